#!/bin/sh
# Installs the Debian packages that cuproof needs, and only those that are missing.
#
# Usage: tools/install_dependencies.sh [build] [demo] [test]     (default: build)
#   build  what compiles the command
#   demo   also pip, which fetches the demo's wheel
#   test   also what the tests, the fuzz targets and the style checks need
#
# Plain sh and dpkg only: on a bare Debian there is neither bash-isms to lean on nor a Python yet.
# CUPROOF_NO_INSTALL=1 leaves the machine alone: missing packages are named, not installed.
set -eu

build='g++ cmake ninja-build pkg-config libfmt-dev nlohmann-json3-dev libcli11-dev libzstd-dev
  liblz4-dev libzip-dev libxxhash-dev libtomlplusplus-dev'
demo='python3'
# ccache spares the test of `pip install` a second compile; binutils has the tools that the hostile
# inputs are built with; clang-14 and its run time library build what is sanitized and fuzzed; the
# versions of clang-format and clang-tidy are fixed since each version has its own opinion.
test='ccache python3 python3-jsonschema python3-venv python3-yaml libgtest-dev libgmock-dev
  libbenchmark-dev binutils time zip unzip file clang-14 libclang-rt-14-dev clang-format-14
  clang-tidy-14 shellcheck'

wanted=''
[ $# -gt 0 ] || set -- build
for group in "$@"; do
  case $group in
    build) wanted="$wanted $build" ;;
    demo)
      wanted="$wanted $demo"
      # Any pip will do, also one that did not come from Debian.
      python3 -m pip --version >/dev/null 2>&1 || wanted="$wanted python3-pip"
      ;;
    test) wanted="$wanted $test" ;;
    *)
      echo "install_dependencies.sh: no group '$group'; there are build, demo and test" >&2
      exit 2
      ;;
  esac
done

if ! command -v apt-get >/dev/null 2>&1; then
  # Not an error yet: the tools may be here under other package names, and CMake names what is not.
  echo "No apt-get here, so nothing is installed. Needed, by Debian's names:" \
    "$(echo "$wanted" | tr -s ' \n' ' ')" >&2
  exit 0
fi

missing=''
for package in $wanted; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  case "$status $missing " in
    installed*) ;;
    *" $package "*) ;;  # two groups may want the same one
    *) missing="$missing $package" ;;
  esac
done
[ -n "$missing" ] || exit 0

as_root=''
if [ "$(id -u)" -ne 0 ]; then
  as_root='sudo'
fi
if [ "${CUPROOF_NO_INSTALL:-0}" != 0 ] ||
  { [ -n "$as_root" ] && ! command -v sudo >/dev/null 2>&1; }; then
  echo "Missing packages; as root run: apt-get install$missing" >&2
  exit 1
fi

echo "Installing Debian packages:$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086  # $as_root and $missing are lists of words
install() {
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
    -o Dpkg::Use-Pty=0 -o Dpkg::Lock::Timeout=120 $missing >"$log" 2>&1 </dev/null
}
# The lists on this machine may be absent or name versions that are gone: try what is there, then
# refresh once. A machine with fresh lists is spared the update.
if ! install; then
  # shellcheck disable=SC2086
  if ! { $as_root apt-get update -q >"$log" 2>&1 </dev/null && install; }; then
    cat "$log" >&2
    echo "apt-get could not install:$missing" >&2
    exit 1
  fi
fi
