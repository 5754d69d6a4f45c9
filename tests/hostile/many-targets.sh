# 20,000 images, each for an architecture of its own that expands to 256 KB.
. "$(dirname "$0")/common.sh"
craft many-archs 20000 >f
run 1 check f --gpu sm_90
seconds 5
run 0 inspect f
seconds 5
