# 3,000,000 containers of 16 bytes that each claim an exabyte.
. "$(dirname "$0")/common.sh"
craft lying-containers 3000000 >f
run 1 check f --gpu sm_90
seconds 5
[ "$(grep -c CP107 out)" -le 10 ] || fail 'one line for each is too many'
run 1 check f --gpu sm_90 --format json
seconds 20
