# A container inside an image is bytes of that image, and no second module.
. "$(dirname "$0")/common.sh"
craft container-in-image >f
run 1 check f --gpu sm_90 --deep
finding error CP107 'expected a cubin'
grep -q '1 image in 1 module' out || fail 'expected one module'
