# Frames outside of containers that look like cubins and expand a thousandfold.
. "$(dirname "$0")/common.sh"
craft frame-bombs 30000 >f
run 0 check f --gpu sm_90 --deep
seconds 15
