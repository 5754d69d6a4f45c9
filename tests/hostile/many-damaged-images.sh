# 400,000 damaged images: the first few are told, the rest counted.
. "$(dirname "$0")/common.sh"
craft damaged-entries 400000 >f
run 1 check f --gpu sm_90 --deep
seconds 10
[ "$(grep -c '^error' out)" -le 10 ] || fail 'one line for each is too many'
grep -q 'more damaged places' out || fail 'the rest should be counted'
