# A million empty images in one container.
. "$(dirname "$0")/common.sh"
craft empty-entries 1000000 >f
run 1 check f --gpu sm_90
seconds 5
grep -q 'more than 500000 images in one container' out || fail 'the bound should be told'
