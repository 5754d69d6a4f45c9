# A file and a folder without the right to read them: one line each, the others are still checked.
. "$(dirname "$0")/common.sh"
mkdir d d/closed
craft good >d/good
craft good >d/secret
cp "$cuproof" program
chmod 755 . d
if [ "$(id -u)" = 0 ]; then as="setpriv --reuid 65534 --regid 65534 --clear-groups"; else as=; fi
chmod 000 d/secret d/closed
rc=0
$as ./program check d d/secret --gpu sm_90 >out 2>err || rc=$?
[ $rc -eq 2 ] || fail "exit $rc"
[ "$(sort -u err | grep -c 'Permission denied')" -eq 2 ] && [ "$(sort -u err | wc -l)" -eq 2 ] || fail 'expected two lines'
grep -q '^ *sm_90 .* runs' out || fail 'the good file should be read'
