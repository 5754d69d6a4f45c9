# 100,000 members.
. "$(dirname "$0")/common.sh"
craft zip-members 100000 >f.zip
run 0 check f.zip --gpu sm_90
quiet
seconds 10
grep -q '100,00[0-9] files looked at' out || fail 'expected all members'
