# Containers that claim each other's bytes are read once, not once for each that claims them.
. "$(dirname "$0")/common.sh"
craft nested-containers 400000 >f
run 1 check f --gpu sm_90
seconds 3
run 1 check f --gpu sm_90 --deep
seconds 3
