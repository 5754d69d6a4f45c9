# Output that cannot be written: one line, exit code 2, nothing left behind.
. "$(dirname "$0")/common.sh"
craft good >f
for command in "check f --gpu sm_90" "inspect f" "explain" "explain CP101" "--help" "--version"; do
  rc=0
  "$cuproof" $command >/dev/full 2>err || rc=$?
  [ $rc -eq 2 ] || fail "exit $rc: $command"
  problem 'could not be written'
done
for file in /dev/full nowhere/x . f/x; do
  run 2 check f --gpu sm_90 -o $file
  problem 'could not be written'
done
[ "$(ls)" = "$(printf 'cost\nerr\nf\nout')" ] || fail "left behind: $(ls)"
