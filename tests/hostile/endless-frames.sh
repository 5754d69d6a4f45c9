# Frames that never end, each a walk through 20 million empty blocks to the end of the file.
. "$(dirname "$0")/common.sh"
craft endless-frames 1000 7000000 >f
run 1 check f --gpu sm_90 --deep
seconds 10
grep -q 'the rest was not listed' out || fail 'the bound should be told'
