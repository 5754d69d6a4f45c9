#!/usr/bin/env bash
# Does the suite notice? Builds the library with each fault of ops/src/seeded_bug.h in turn, puts it
# under the test program, and expects failures. The library without a fault must pass the same tests
# in the same minute. Needs a GPU of sm_90, nvcc, CMake, ninja; no GoogleTest.
#
# Usage: seeded_bugs.sh TESTS OUT.json
#   TESTS: build/ops-sm_90/tests/ops_tests
set -euo pipefail

if [ $# -ne 2 ]; then
    echo "usage: $0 TESTS OUT.json" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
tests=$(realpath "$1")
out=$(realpath -m "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bugs=$(seq 0 "$(sed -n 's/.*kBugs = \([0-9]*\);/\1/p' "$here/../src/seeded_bug.h")")

# One case of each kind, and all tests that were written for one danger.
filter='Spec/*chunk_edges_normal:Spec/*vector_edges_normal:Spec/*vector_edges_*inf_*'
filter+=':Spec/*empty_between*:Spec/*count_2033_normal:Spec/*bf16_large_above_uniform'
filter+=':GradNorm.*:GradAccumulate.*:GradScale.*:NonfiniteGuard.*:HugeTensor.*'

build() {
    cmake -S "$here/.." -B "$work/$1" -G Ninja -DCMAKE_CUDA_ARCHITECTURES=90-real \
        -DCUPROOF_OPS_TESTS=OFF -DCUPROOF_OPS_SEEDED_BUG="$1" >"$work/$1.build" 2>&1 &&
        cmake --build "$work/$1" --target cuproof_ops >>"$work/$1.build" 2>&1 ||
        { cat "$work/$1.build" >&2; return 1; }
}

try() {
    local status=0
    LD_LIBRARY_PATH="$work/$1" timeout "${SEEDED_SECONDS:-150}" "$tests" --gtest_brief=1 \
        --gtest_filter="$filter" >"$work/$1.log" 2>&1 || status=$?
    echo "$status" >"$work/$1.status"
}

start=$(date +%s)
for bug in $bugs; do build "$bug" & pids+=($!); done
for pid in "${pids[@]}"; do wait "$pid"; done
echo "built in $(($(date +%s) - start)) s" >&2

# A huge tensor takes 13 GB: a few at a time.
for bug in $bugs; do
    try "$bug" &
    while [ "$(jobs -rp | wc -l)" -ge 4 ]; do wait -n; done
done
wait
echo "tried in $(($(date +%s) - start)) s" >&2

python3 - "$work" "$here/../src/seeded_bug.h" "$out" <<'PY'
"""Who caught what, from the test program's own lines."""
import json, re, sys
from pathlib import Path

work, header, out = Path(sys.argv[1]), Path(sys.argv[2]).read_text(), Path(sys.argv[3])
names = {0: ("none", "the library as it is")}
for name, bug, says in re.findall(r"bool k(\w+) = kBug == (\d+);\s*// (.*)", header):
    names[int(bug)] = (name, says)

rows, wrong = [], []
for bug, (name, says) in sorted(names.items()):
    status = int((work / f"{bug}.status").read_text())
    log = (work / f"{bug}.log").read_text(errors="replace")
    failed = sorted(set(re.findall(r"^\[  FAILED  \] ([\w/]+\.[\w/]+)", log, re.M)))
    ran = re.search(r"\[=+\] (\d+) tests? from", log)
    row = {"bug": bug, "name": name, "says": says, "exit_code": status,
           "tests": int(ran.group(1)) if ran else None, "failed": len(failed),
           "caught_by": failed[:12]}
    if status == 124:
        row["timed_out"] = True
    rows.append(row)
    good = status == 0 and not failed if bug == 0 else status == 1 and failed
    # A hang or a crash is noticed, too, but says less.
    if bug != 0 and status not in (0, 1):
        good = True
    if not good:
        wrong.append(bug)
        print(f"bug {bug} ({name}): exit code {status}\n{log[-3000:]}", file=sys.stderr)
    print(f"{bug:2} {name:20} exit {status:3}, {len(failed)} failed", file=sys.stderr)
out.write_text(json.dumps(rows, indent=1) + "\n")
sys.exit(1 if wrong else 0)
PY
