# 4,096 names of needed libraries that share one text of 16 MB without an end.
. "$(dirname "$0")/common.sh"
craft needed-names 16000000 >f
run 0 check f
seconds 2
