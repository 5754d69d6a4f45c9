#!/bin/sh
# usage: venv.sh oldest|newest
#
# Prints the folder of a virtual environment with torch 2.10.0, or with the newest torch: finds it or
# makes it in build/venvs. CUPROOF_OPS_VENV_OLDEST and CUPROOF_OPS_VENV_NEWEST name others.
# Exits with 77 where none can be made, as without a network.
set -u

root=$(cd "$(dirname "$0")/../../.." && pwd)
age=${1:-}
case $age in
  oldest) torch='torch==2.10.0'; venv=${CUPROOF_OPS_VENV_OLDEST:-} ;;
  newest) torch='torch'; venv=${CUPROOF_OPS_VENV_NEWEST:-} ;;
  *) echo "venv.sh: expected oldest or newest, got '$age'" >&2; exit 2 ;;
esac
venv=${venv:-$root/build/venvs/torch-$age}

usable() {
  "$venv/bin/python" -c 'import torch, numpy, pytest' 2>/dev/null
}

if ! usable; then
  log=$root/build/venvs/torch-$age.log
  mkdir -p "$root/build/venvs"
  if ! { python3 -m venv "$venv" &&
         "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --retries 2 \
           "$torch" numpy pytest; } >"$log" 2>&1 </dev/null || ! usable; then
    echo "venv.sh: no virtual environment with $torch could be made; see $log" >&2
    exit 77
  fi
fi
echo "$venv"
