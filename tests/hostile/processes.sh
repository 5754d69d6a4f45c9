# pid: with what is no process; and a process that is one: this shell.
. "$(dirname "$0")/common.sh"
for pid in x '' 0 -1 1x 99999999999999999999999 ' 1' 1/../2 $'1\n'; do
  run 2 check "pid:$pid"
  problem 'expected the number of a process'
done
run 2 check pid:999999999
problem 'no process has this number'
run 0 check "pid:$$"
quiet
grep -q 'files looked at' out || fail 'expected the files of this shell'
