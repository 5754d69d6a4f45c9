# No PATH, no HOME, no locale, no folder to stand in.
. "$(dirname "$0")/common.sh"
craft good >f
env -i "$cuproof" check "$temp/f" --gpu sm_90 >out 2>err || fail "exit $?"
quiet
mkdir gone && cd gone && rmdir ../gone
env -i "$cuproof" check "$temp/f" --gpu sm_90 >../out 2>../err || fail "exit $?"
rc=0
env -i "$cuproof" check f --gpu sm_90 >../out 2>../err || rc=$?
cd ..
[ $rc -eq 2 ] || fail "exit $rc"
problem 'No such file or directory'
