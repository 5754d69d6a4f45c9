#!/bin/sh
# Every shell script passes shellcheck and stops at the first failure.
set -eu
cd "$(dirname "$0")/../.."

if ! command -v shellcheck >/dev/null 2>&1; then
  echo "SKIP: no shellcheck"
  exit 77
fi
# By the first line, since demo, test and .ci/run have no suffix.
scripts=$(grep -rlIE '^#!/(usr/bin/env )?(/?bin/)?(ba)?sh' --exclude-dir=.git --exclude-dir=build . |
  sort)
echo "$scripts" | xargs shellcheck
status=0
for script in $scripts; do
  if ! grep -qE '^set -[a-z]*e' "$script"; then
    echo "$script: no set -e"
    status=1
  fi
done
echo "$(echo "$scripts" | wc -l) scripts looked at"
exit $status
