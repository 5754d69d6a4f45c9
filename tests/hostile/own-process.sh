# The program looks at itself.
. "$(dirname "$0")/common.sh"
for _ in 1 2 3; do
  rc=0
  bash -c 'exec "$0" check "pid:$$"' "$cuproof" >out 2>err || rc=$?
  [ $rc -le 1 ] || fail "exit $rc"
  quiet
  grep -q "files looked at" out || fail "expected its files"
done
