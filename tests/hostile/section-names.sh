# 500,000 section names that share one text of 4 MB without an end.
. "$(dirname "$0")/common.sh"
craft section-names 500000 4000000 >f
run 0 check f
seconds 4
