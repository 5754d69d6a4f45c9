# An output file that exists and is longer is replaced whole.
. "$(dirname "$0")/common.sh"
craft good >f
seq 100000 >result
run 0 check f --gpu sm_90 --format json -o result
python3 -m json.tool result >/dev/null || fail 'no JSON'
