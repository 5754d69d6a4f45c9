#!/usr/bin/env bash
# All that needs a GPU, in one run: the tests, the fresh process that captures at once, the
# sanitizers over small shapes, the seeded bugs. Needs an sm_90 GPU, the CUDA toolkit, CMake, ninja,
# python3, and the programs that were built elsewhere (GoogleTest is inside them).
#
# Usage: run_on_gpu.sh OUTDIR [BUILD]
#   BUILD: build/ops-sm_90, made by `cmake --preset sm_90 && cmake --build --preset sm_90` in ops/
#
# Writes OUTDIR/ops_<gpu>.json (ops_h200.json on an H200) and logs. Exit code 0: all as it must be.
#
# PARTS="tests torch capture sanitizers seeded" (all of them) leaves out what is not named; ONTO=FILE is
# an earlier record from which the parts left out are taken, each with its own date.
# TESTS_SECONDS bounds the tests (540).
set -uo pipefail

if [ $# -lt 1 ]; then
    echo "usage: $0 OUTDIR [BUILD]" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
build=$(realpath "${2:-$here/../../build/ops-sm_90}")
tests=$build/tests/ops_tests
export LD_LIBRARY_PATH=$build
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
start=$(date +%s)
parts=" ${PARTS:-tests torch capture sanitizers seeded} "
wants() { [[ $parts == *" $1 "* ]]; }
say() { echo "$(($(date +%s) - start)) s: $*" >&2; }

if wants tests; then
    # Alone: one kernel has to hold half of the GPU while another runs, which the time slices of other
    # processes break up.
    alone='Determinism.WithHalfOfTheMultiprocessorsHeld'
    timeout 60 "$tests" --gtest_filter="$alone" >"$work/tests.alone.log" 2>&1
    # Every test waits for the GPU many times, and processes that share it take turns of milliseconds.
    # With four of them the suite did not end within 300 s.
    shards=${SHARDS:-2}
    for ((i = 0; i < shards; ++i)); do
        GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$i timeout "${TESTS_SECONDS:-540}" "$tests" \
            --gtest_filter="-$alone" >"$work/tests.$i.log" 2>&1 || echo "shard $i: exit $?" >&2 &
    done
    wait
    grep -hvE '^\[ RUN' "$work"/tests.*.log | head -c 4000000 >"$out/tests.log"
    grep -hcE '^\[       OK' "$out/tests.log" >&2
    grep -hE '^\[  FAILED' "$out/tests.log" | sort | uniq -c | head -20 >&2
    say "tests"
fi

# The binding, where it was built and there is a torch.
torch=$build/src/torch/_cuproof_ops_torch.so
if wants torch && [ -e "$torch" ] && python3 -c 'import torch, pytest' 2>/dev/null; then
    (cd "$work" && CUPROOF_OPS_TORCH_LIBRARY=$torch PYTHONPATH=$here/../python \
        PYTHONDONTWRITEBYTECODE=1 timeout 300 python3 -m pytest -q -p no:cacheprovider \
        --junit-xml="$work/torch.xml" -rsfE --tb=short -k 'not reference' "$here/torch") \
        >"$out/torch.log" 2>&1
    tail -n 3 "$out/torch.log" >&2
    say "the binding"
fi

if wants capture; then
    "$build/tests/ops_capture_after_prepare" | tee "$work/capture.txt" >&2
fi

# Small shapes: every kernel, every type, both ways to read, the second reading, several pages.
small='Spec/*mixed_vector_edges_normal:Spec/*mixed_vector_edges_tiny:Spec/*mixed_vector_edges_nan_tail'
small+=':Spec/*mixed_empty_between_normal:Spec/*mixed_count_17_normal:Spec/*mixed_count_257_normal'
small+=':GradNorm.EachOutputAlone:NonfiniteGuard.*:LossScale.AGraph*'
if wants sanitizers; then
    export CUPROOF_OPS_TESTS_MAX_ELEMENTS=70000
    for tool in memcheck initcheck racecheck synccheck; do
        (
            # Memory that nothing has filled: initcheck shall see a read before a write.
            if [ $tool = initcheck ]; then export CUPROOF_OPS_TESTS_RAW_WORKSPACE=1; fi
            timeout "${SANITIZER_SECONDS:-170}" compute-sanitizer --tool $tool --print-limit 20 --error-exitcode 9 \
                "$tests" --gtest_brief=1 --gtest_filter="$small" >"$work/$tool.log" 2>&1
            echo $? >"$work/$tool.status"
        ) &
    done
    wait
    unset CUPROOF_OPS_TESTS_MAX_ELEMENTS
    for tool in memcheck initcheck racecheck synccheck; do
        cp "$work/$tool.log" "$out/$tool.log"
        echo "$tool: exit $(cat "$work/$tool.status"), $(grep -h 'SUMMARY' "$work/$tool.log")" >&2
    done
    say "sanitizers"
fi

if wants seeded; then
    "$here/seeded_bugs.sh" "$tests" "$work/seeded_bugs.json"
    say "seeded bugs"
fi

python3 "$here/gpu_record.py" "$work" "$out" "$(($(date +%s) - start))" ${ONTO:+"$ONTO"}
