#!/bin/sh
# Prints the path of an nvcc of CUDA 13.0 or newer: the one on PATH or under CUDA_HOME, else one from
# PyPI, which is installed once into build/cuda-toolkit (300 MB; no driver and no root is needed).
#
# Usage: tools/find_nvcc.sh
set -eu
cd "$(dirname "$0")/.."

is_new_enough() {
  "$1" --version 2>/dev/null | grep -qE 'release (1[3-9]|[2-9][0-9])\.'
}

for nvcc in "$(command -v nvcc || true)" "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc"; do
  if [ -x "$nvcc" ] && is_new_enough "$nvcc"; then
    echo "$nvcc"
    exit 0
  fi
done

venv=build/cuda-toolkit
log=build/cuda-toolkit.log
installed() {
  find "$PWD/$venv" -path '*/nvidia/cu13/bin/nvcc' 2>/dev/null | head -n 1
}
if [ -z "$(installed)" ]; then
  mkdir -p build
  {
    python3 -m venv $venv
    $venv/bin/python -m pip install --disable-pip-version-check 'nvidia-cuda-nvcc==13.0.*' \
      'nvidia-cuda-crt==13.0.*' 'nvidia-nvvm==13.0.*' 'nvidia-cuda-runtime==13.0.*' \
      'nvidia-cuda-cccl==13.0.*'
  } >$log 2>&1 </dev/null || {
    tail -n 5 $log >&2
    echo "no nvcc of CUDA 13.0 or newer on PATH, and none could be installed from PyPI (all of it: $log)" >&2
    exit 1
  }
fi
installed
