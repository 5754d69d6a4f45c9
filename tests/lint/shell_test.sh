#!/bin/sh
# Every shell script that can be called passes shellcheck.
set -eu
cd "$(dirname "$0")/../.."

if ! command -v shellcheck >/dev/null 2>&1; then
  echo "SKIP: no shellcheck"
  exit 77
fi
# By the first line, since demo, test and .ci/run have no suffix.
scripts=$(grep -rlIE '^#!/(usr/bin/env )?(/?bin/)?(ba)?sh' --exclude-dir=.git --exclude-dir=build . |
  sort)
echo "$scripts" | xargs shellcheck --severity=warning
echo "$(echo "$scripts" | wc -l) scripts looked at"
