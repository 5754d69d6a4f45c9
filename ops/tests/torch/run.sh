#!/bin/sh
# usage: run.sh oldest|newest LIBRARY [pytest arguments]
#
# Runs these tests under torch 2.10.0, or under the newest torch, in the virtual environment of venv.sh.
# Exits with 77 (skipped) where there is none.
set -u

age=$1
library=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)

venv=$("$here/venv.sh" "$age") || exit $?

export CUPROOF_OPS_TORCH_LIBRARY="$library"
export PYTHONPATH="$root/ops/python"
export PYTHONDONTWRITEBYTECODE=1
exec "$venv/bin/python" -m pytest -q -p no:cacheprovider -rs "$here" "$@"
