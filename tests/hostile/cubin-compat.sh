# 65,535 sections of a cubin that are the same 4 MB.
. "$(dirname "$0")/common.sh"
craft compat-sections 4000000 >f
run 0 check f --gpu sm_90
seconds 4
