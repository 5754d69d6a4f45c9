# A table that is mostly zero makes an honest image of 20,000 to 1 and more: that is no bomb.
. "$(dirname "$0")/common.sh"
craft sparse-image $((16 << 20)) >f
run 0 check f --gpu sm_90 --deep
quiet
grep -q '^ *sm_90 .* runs' out || fail 'it should run'
