# A run that is killed leaves no half-written output: the old file stays as it was.
. "$(dirname "$0")/common.sh"
craft many-archs 60000 >f
echo old >result
for wait in 0.02 0.05 0.1 0.2 0.3 0.5; do
  (timeout -s KILL $wait "$cuproof" check f --gpu sm_90 --format json -o result || true) >log 2>&1
  [ "$(cat result)" = old ] || python3 -m json.tool result >/dev/null || fail 'half-written'
done
run 1 check f --gpu sm_90 --format json -o result
python3 -m json.tool result >/dev/null || fail 'no JSON'
