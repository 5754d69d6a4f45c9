# 200,000 members of an archive whose names share one text of 4 MB without an end.
. "$(dirname "$0")/common.sh"
craft archive-names 200000 4000000 >f
run 0 check f
seconds 4
