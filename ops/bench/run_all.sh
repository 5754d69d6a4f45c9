#!/usr/bin/env bash
# Builds the library, the binding and the ceilings for sm_90 and runs every bench; for a machine with
# an H200, Python 3.11 (it reads the TOML of ops/specs), torch, cmake, ninja and nvcc. A bench that fails
# does not stop the others.
#
#   ops/bench/run_all.sh OUT [--quick] [--tune] [BENCH...]
#
# Writes OUT/<bench>.json and OUT/log.txt. BENCH: norm clip step guard accumulate accuracy (all).
set -u
here=$(cd "$(dirname "$0")" && pwd)
ops=$(dirname "$here")
out=${1:?usage: run_all.sh OUT [--quick] [--tune] [BENCH...]}
shift
quick=() tune=0 benches=()
for word in "$@"; do
  case $word in
    --quick) quick=(--quick) ;;
    --tune) tune=1 ;;
    *) benches+=("$word") ;;
  esac
done
[ ${#benches[@]} -gt 0 ] || benches=(norm guard clip step accumulate accuracy)
mkdir -p "$out"
out=$(cd "$out" && pwd)
build=${CUPROOF_OPS_BUILD:-$(dirname "$ops")/build/ops-bench}
log=$out/log.txt
: >"$log"
export PYTHONUNBUFFERED=1 TORCHINDUCTOR_CACHE_DIR=$build/inductor TRITON_CACHE_DIR=$build/triton
command -v nvcc >/dev/null || export PATH=$PATH:/usr/local/cuda/bin
CUPROOF_OPS_NVCC=$(nvcc --version | sed -n 's/.*release [0-9.]*, V\([0-9.]*\).*/\1/p')
export CUPROOF_OPS_NVCC

configure() {
  cmake -S "$ops" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_ARCHITECTURES=90-real \
    -DCUPROOF_OPS_TESTS=OFF -DCUPROOF_OPS_BENCH=ON -DCUPROOF_OPS_TORCH="$1" >>"$log" 2>&1
}
site=$(python3 -c 'import pathlib, torch; print(pathlib.Path(torch.__file__).parent.parent)')
started=$SECONDS
if ! { configure "$site" && cmake --build "$build" >>"$log" 2>&1; }; then
  echo "FAILED: building the binding (its errors are in log.txt); trying without it"
  grep -E 'error|Error' "$log" | head -5
  rm -rf "$build"
  if ! { configure "" && cmake --build "$build" >>"$log" 2>&1; }; then
    echo "FAILED: the build"
    tail -30 "$log"
    exit 1
  fi
fi
# The package as the wheel has it: Python and the binding side by side.
package=$build/site/cuproof_ops
mkdir -p "$package"
cp -r "$ops/python/cuproof_ops/." "$package/"
find "$build" -name '_cuproof_ops_torch*.so' -not -path "$build/site/*" -exec cp {} "$package/" \;
export PYTHONPATH=$build/site
echo "built in $((SECONDS - started)) s"

lib=$build/libcuproof_ops.so
ceilings=$build/bench/libcuproof_ops_bench.so
for bench in "${benches[@]}"; do
  timeout 170 python3 "$here/bench_$bench.py" --lib "$lib" --ceilings "$ceilings" \
    --out "$out/$bench.json" "${quick[@]}" 2>&1 | tee -a "$log" |
    grep --line-buffered -E '^(==|  |FAILED|[A-Za-z]*Error)'
  status=${PIPESTATUS[0]}
  [ "$status" -eq 0 ] || echo "FAILED: bench $bench, exit $status; see log.txt"
done
if [ "$tune" = 1 ]; then
  timeout 240 python3 "$here/tune_grad.py" --build "$build/tune" --out "$out/tune.json" \
    "${quick[@]}" 2>&1 | tee -a "$log"
fi
echo
python3 "$here/report.py" --table "$out" || echo "FAILED: the table"
echo "all in $((SECONDS - started)) s"
