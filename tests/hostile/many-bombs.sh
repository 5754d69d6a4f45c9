# 30,000 images of a megabyte each out of 30 MB: 30 GB in all, piece by piece.
. "$(dirname "$0")/common.sh"
craft many-bombs 30000 >f
run 0 check f --gpu sm_90 --deep
seconds 15
