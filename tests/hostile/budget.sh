# 700 KB of images that would expand to 20 GB: the rest is told to be left alone.
. "$(dirname "$0")/common.sh"
craft sparse-images 100 $((200 << 20)) >f
run 1 check f --gpu sm_90 --deep
grep -q 'not expanded: the images before it took' out || fail 'the bound should be told'
seconds 15
