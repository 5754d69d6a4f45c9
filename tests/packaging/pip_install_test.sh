#!/bin/sh
# `pip install .` in a fresh virtual environment gives the command that was built here.
#
# Usage: pip_install_test.sh CUPROOF
set -eu

cuproof=$1
root=$(cd "$(dirname "$0")/../.." && pwd)

# A virtual environment that is active, or a path to modules, would leak into the fresh one.
unset VIRTUAL_ENV PYTHONPATH PYTHONHOME
# Debian's Python where there is one: its venv module was installed with the other packages.
python=/usr/bin/python3
[ -x "$python" ] || python=python3

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if ! "$python" -m venv "$folder/venv" >"$folder/log" 2>&1; then
  echo "SKIP: this Python makes no virtual environments (Debian: python3-venv)"
  exit 77
fi
pip="$folder/venv/bin/python -m pip --disable-pip-version-check"
# The index is asked for what the build needs before the build is judged: after this, a failure is ours.
if ! $pip download -q --no-deps --retries 1 --timeout 20 -d "$folder/reach" scikit-build-core \
  >"$folder/log" 2>&1; then
  echo "SKIP: pip cannot reach a package index: $(tail -n 1 "$folder/log")"
  exit 77
fi

# Compiled as build/release is, so that ccache, where there is one, has nearly all of it.
if ! $pip install -q "$root" >"$folder/log" 2>&1; then
  tail -n 40 "$folder/log"
  echo "pip install failed"
  exit 1
fi

installed=$folder/venv/bin/cuproof
fail() {
  echo "$1"
  exit 1
}
[ -x "$installed" ] || fail "no cuproof command in the environment"
want=$("$cuproof" --version)
have=$("$installed" --version)
[ "$have" = "$want" ] || fail "the command says '$have', the one built here '$want'"
record="cuproof $($pip show cuproof | sed -n 's/^Version: //p')"
[ "$record" = "$want" ] || fail "the package says '$record', the command '$want'"
# The tables and pages are inside the program: it works from any folder.
(cd / && "$installed" check "$root/tests/fixtures/gpu_images.zip" --gpu H100 --fail-on never) \
  >"$folder/out" || fail "the installed command does not check the fixtures"
echo "$want installed by pip"
