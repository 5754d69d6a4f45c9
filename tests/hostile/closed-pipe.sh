# A reader that goes away early is no failure; a closed standard output is.
. "$(dirname "$0")/common.sh"
craft many-archs 5000 >f
set +o pipefail
"$cuproof" inspect f --images 2>err | head -1 >out
[ ${PIPESTATUS[0]} -eq 0 ] || fail 'expected exit 0'
quiet
rc=0
"$cuproof" inspect f >&- 2>err || rc=$?
[ $rc -eq 2 ] || fail "exit $rc"
problem 'standard output: could not be written'
"$cuproof" inspect f 2>&- >out || fail 'a closed standard error is no failure'
