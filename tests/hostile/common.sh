# Include of every test in this folder. The program under test is $CUPROOF; each test has a fresh
# folder, and each run of the program at most 20 seconds of processor time and 1 GB of memory. With
# sanitizers, which are slow and large: HOSTILE_SLOW=1 HOSTILE_MEMORY_KB=12000000.
set -eu -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
cuproof=$(readlink -f "${CUPROOF:-$here/../../build/release/cuproof}")
memory_kb=${HOSTILE_MEMORY_KB:-1000000}
patience=${HOSTILE_SLOW:+300}
patience=${patience:-20}
temp=$(mktemp -d)
trap 'chmod -R u+rwx "$temp" 2>/dev/null; rm -rf "$temp"' EXIT
cd "$temp"
unset VIRTUAL_ENV CONDA_PREFIX
export LC_ALL=C.UTF-8
# What a sanitizer finds must not look like a finding of the program.
export ASAN_OPTIONS=exitcode=86 UBSAN_OPTIONS=exitcode=86

fail() {
  echo "${0##*/}: $*"
  head -c 2000 out err 2>/dev/null || true
  exit 1
}

craft() { python3 "$here/craft.py" "$@"; }

# Nothing that a terminal obeys: all text is UTF-8 without control characters.
printable() { iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>&1 && ! grep -qP '[^\P{C}\n]' "$1"; }

# run EXIT ARGUMENT...: output is in `out` and `err`, and what it cost in `cost`.
run() {
  local want=$1 rc=0
  shift
  (
    ulimit -t $patience
    exec env time -f '%M %U %S' -o cost timeout -k 5 200 "$cuproof" "$@"
  ) >out 2>err || rc=$?
  case $rc in 124 | 137 | 152) fail "does not come to an end: $*" ;; esac
  case " $want " in *" $rc "*) ;; *) fail "exit $rc, expected $want: $*" ;; esac
  [ $rc -eq 2 ] || [ -s out ] || [ "${*: -2:1}" = -o ] || fail "nothing was said: $*"
  printable out && printable err || fail "not printable: $*"
  [ "$(tail -1 cost | cut -d' ' -f1)" -le "$memory_kb" ] || fail "$(tail -1 cost) KB: $*"
}

# seconds LIMIT: of processor time, of the last run. Sanitizers are slow: no limit with them.
seconds() {
  [ -n "${HOSTILE_SLOW:-}" ] || tail -1 cost | awk -v limit="$1" '{ exit $2 + $3 > limit }' ||
    fail "took $(tail -1 cost) seconds, limit $1"
}

# problem TEXT: standard error is this one line.
problem() {
  [ "$(wc -l <err)" -eq 1 ] && grep -q "^cuproof: .*$1" err || fail "expected one line: $1"
}

# finding LEVEL ID TEXT: one finding of this level, and it is this one.
finding() {
  [ ! -s err ] || fail 'standard error should be empty'
  [ "$(grep -c "^$1\[" out)" -eq 1 ] || fail "expected one $1"
  tr -s '\n ' ' ' <out | grep -q "$1\[$2\] [^[]*$3" || fail "expected $1[$2]: $3"
}

# damaged FILE...: each has a finding of damage in the JSON lines of the last run.
damaged() {
  [ ! -s err ] || fail 'standard error should be empty'
  grep '"type":"finding"' out | grep '"CP107"' >findings || true
  for file in "$@"; do
    grep -q "\"file\":\"$file\"" findings || fail "silent about $file"
  done
}

quiet() { [ ! -s err ] && ! grep -q '^error\[' out || fail 'expected no problem'; }
