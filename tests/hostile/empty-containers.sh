# 64 MB of empty containers: 4 million modules, of which the first 400,000 are listed.
. "$(dirname "$0")/common.sh"
craft empty-containers 4194304 >f
run 1 check f --gpu sm_90
seconds 5
grep -q 'the rest was not listed' out || fail 'the bound should be told'
run 0 inspect f
seconds 5
