#!/bin/sh
# usage: run.sh oldest|newest LIBRARY [pytest arguments]
#
# Runs these tests under torch 2.10.0, or under the newest torch, in a virtual environment that it
# finds or makes in build/venvs. CUPROOF_OPS_VENV_OLDEST and CUPROOF_OPS_VENV_NEWEST name others.
# Exits with 77 (skipped) where none can be made, as without a network.
set -u

age=$1
library=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)

case $age in
  oldest) torch='torch==2.10.0'; venv=${CUPROOF_OPS_VENV_OLDEST:-} ;;
  newest) torch='torch'; venv=${CUPROOF_OPS_VENV_NEWEST:-} ;;
  *) echo "run.sh: expected oldest or newest, got $age" >&2; exit 2 ;;
esac
venv=${venv:-$root/build/venvs/torch-$age}

if ! "$venv/bin/python" -c 'import torch, numpy, pytest' 2>/dev/null; then
  echo "run.sh: making $venv with $torch"
  log=$root/build/venvs/torch-$age.log
  mkdir -p "$root/build/venvs"
  if ! { python3 -m venv "$venv" &&
         "$venv/bin/python" -m pip install --quiet "$torch" numpy pytest; } >"$log" 2>&1; then
    echo "run.sh: skipped: no virtual environment with $torch could be made; see $log"
    exit 77
  fi
fi

export CUPROOF_OPS_TORCH_LIBRARY=$library
export PYTHONPATH=$root/ops/python
export PYTHONDONTWRITEBYTECODE=1
exec "$venv/bin/python" -m pytest -q -p no:cacheprovider -rs "$here" "$@"
