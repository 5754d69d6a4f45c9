#!/bin/sh
# Runs clang-tidy 14 with .clang-tidy over sources in the compile commands of a build.
#
# Usage: tidy.sh BUILD_DIR [--all]
#
# All files take minutes on two cores. Without --all: those that differ from the last commit, and
# a quarter of the rest, another one after each commit. The same commit is always asked the same.
set -eu

build=$(cd "$1" && pwd)
all=${2:-}
cd "$(dirname "$0")/../.."
root=$(pwd)

if ! command -v clang-tidy-14 >/dev/null 2>&1; then
  echo "SKIP: no clang-tidy-14, and other versions find other things"
  exit 77
fi

# What the build compiles, less what it generates.
files=$(sed -n "s|^ *\"file\": \"$root/\\(.*\\)\",*\$|\\1|p" "$build/compile_commands.json" |
  grep -v '^build/' | sort -u)
if [ "$all" != --all ]; then
  turn=$(git rev-list --count HEAD 2>/dev/null || echo 0)
  quarter=$(echo "$files" | awk -v turn="$turn" 'NR % 4 == turn % 4')
  changed=$({
    git diff --name-only HEAD -- '*.cc'
    git ls-files --others --exclude-standard -- '*.cc'
  } 2>/dev/null || true)
  files=$(printf '%s\n%s\n' "$quarter" "$(echo "$changed" | grep -Fx "$files" || true)" |
    sed '/^$/d' | sort -u)
fi

export build
status=0
# The flags that silence GCC's false alarms are none that clang knows. Only what fails is shown.
# shellcheck disable=SC2016  # the inner shell expands
echo "$files" | xargs -P "$(nproc)" -I '{}' sh -c '
  found=$(clang-tidy-14 --quiet -p "$build" --extra-arg=-Wno-unknown-warning-option "$1" 2>&1) ||
    { echo "$found"; exit 1; }' tidy '{}' || status=1
echo "$(echo "$files" | wc -l) files looked at"
exit $status
