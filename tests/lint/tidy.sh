#!/bin/sh
# Runs clang-tidy 14 with .clang-tidy over the C++ sources in the compile commands of a build.
#
# Usage: tidy.sh BUILD_DIR [FILE...]     (default: all of them)
#
# All of build/release take six minutes on two cores, so this is no part of ./test: ./test --lint runs it.
set -eu

build=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/../.."
root=$(pwd)

if ! command -v clang-tidy-14 >/dev/null 2>&1; then
  echo "no clang-tidy-14, and other versions find other things"
  exit 2
fi
# What the build compiles, less what it generates.
# shellcheck disable=SC2046  # names of ours, without spaces
[ $# -gt 0 ] || set -- $(sed -n "s|^ *\"file\": \"$root/\\(.*\\.cc\\)\",*\$|\\1|p" \
  "$build/compile_commands.json" | grep -v '^build/' | sort -u)

export build
status=0
# The flags that silence GCC's false alarms are none that clang knows. Only what fails is shown.
# shellcheck disable=SC2016  # the inner shell expands
printf '%s\n' "$@" | xargs -P "$(nproc)" -I '{}' sh -c '
  found=$(clang-tidy-14 --quiet -p "$build" --extra-arg=-Wno-unknown-warning-option "$1" 2>&1) ||
    { echo "$found"; exit 1; }' tidy '{}' || status=1
echo "$# files looked at"
exit $status
