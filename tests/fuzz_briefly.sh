#!/bin/sh
# Runs every fuzz target for 5 seconds: enough to find what a careless change to a reader breaks.
set -eu
cd "$(dirname "$0")/.."

if ! command -v clang++-14 >/dev/null 2>&1; then
  echo "SKIP: no clang++-14, which brings libFuzzer"
  exit 77
fi
CUPROOF_FUZZ_PRESET=asan-ubsan exec fuzz/run.sh 5
