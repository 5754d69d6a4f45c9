#!/bin/bash
# Run the fuzz targets: fuzz/run.sh [--record] [SECONDS] [TARGET...]
#
# Each runs for SECONDS of processor time (20), and prints one line. An input that breaks something
# is kept in build/fuzz/broken/, and the exit code is 1. --record writes fuzz/results.json.
set -eu
export ASAN_OPTIONS=malloc_context_size=6:quarantine_size_mb=16
cd "$(dirname "$0")/.."
record=
if [ "${1:-}" = --record ]; then record=1; shift; fi
seconds=${1:-20}
[ $# -gt 0 ] && shift
targets=${*:-fatbin cubin ptx zip elf dynamic trace resources logs}
# Another preset that has the targets, so that ./test compiles the readers once for all sanitized tests.
preset=${CUPROOF_FUZZ_PRESET:-fuzz}
build=build/$preset
broken=$build/broken
log=$build/fuzz.log
rows=$build/rows

cmake --preset "$preset" >"$log" && cmake --build --preset "$preset" --target fuzz_targets >>"$log" || {
  tail -20 "$log"
  exit 1
}
sources=$(python3 fuzz/source_hash.py)
python3 fuzz/make_corpus.py $build/seeds
mkdir -p $broken
: >$rows
status=0

# One run of libFuzzer, whose limit is on the clock. Prints "executions processor-seconds crashed".
run_once() {
  mkdir -p "$build/corpus/$1"
  local crashed=0 length=16384
  [ "$1" != trace ] || length=81920 # the counters of one ring take 68 KB
  /usr/bin/time -f 'cpu %U %S' "$build/fuzz/fuzz_$1" -max_total_time="$2" -max_len=$length \
    -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 -dict="fuzz/$1.dict" \
    -artifact_prefix="$broken/$1-" "$build/corpus/$1" "$build/seeds/$1" >"$log" 2>&1 || crashed=1
  awk -v crashed=$crashed '/^stat::number_of_executed_units/ { runs = $2 }
    /^cpu / { cpu = $2 + $3 } END { print runs + 0, cpu + 0, crashed }' "$log"
}

for target in $targets; do
  runs=0 cpu=0 crashes=0
  while [ $crashes = 0 ] && left=$(awk -v s="$seconds" -v c=$cpu 'BEGIN { print int(s - c + 0.99) }') &&
    [ "$left" -gt 0 ]; do
    read -r more_runs more_cpu crashes < <(run_once "$target" "$left")
    runs=$((runs + more_runs))
    cpu=$(awk -v a=$cpu -v b="$more_cpu" 'BEGIN { print a + b }')
  done
  echo "$target: $runs executions, $cpu s, $crashes crashes"
  echo "$target $runs $cpu $crashes" >>$rows
  if [ "$crashes" != 0 ]; then
    status=1
    grep -m 1 -E 'ERROR|runtime error|broken:' "$log" || tail -5 "$log"
  fi
done

if [ -n "$record" ]; then
  python3 - "$sources" "$(clang++-14 --version | head -1)" $rows >fuzz/results.json <<'PY'
import datetime, json, sys
names = ("target", "executions", "cpu_seconds", "crashes")
rows = [dict(zip(names, line.split())) for line in open(sys.argv[3])]
for row in rows:
    row.update(executions=int(row["executions"]), cpu_seconds=round(float(row["cpu_seconds"]), 1),
               crashes=int(row["crashes"]))
print(json.dumps({"date": datetime.date.today().isoformat(), "compiler": sys.argv[2],
                  "sanitizers": "address,undefined", "sources": sys.argv[1], "targets": rows}, indent=2))
PY
fi
exit $status
