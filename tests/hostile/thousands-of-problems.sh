# 5,000 damaged zips: a line each, and the good file is still read.
. "$(dirname "$0")/common.sh"
mkdir d
craft zip | head -c 100 >part
for ((i = 0; i < 5000; ++i)); do cp part "d/$i.zip"; done
craft good >d/good
run 2 check d --gpu sm_90
[ "$(wc -l <err)" -eq 5000 ] || fail 'expected a line each'
grep -q '^ *sm_90 .* runs' out || fail 'the good file should be read'
seconds 5
