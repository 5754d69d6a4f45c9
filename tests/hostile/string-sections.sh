# 100,000 string tables of an object file that are the same 4 MB.
. "$(dirname "$0")/common.sh"
craft string-sections 100000 4000000 >f
run 0 check f
seconds 4
