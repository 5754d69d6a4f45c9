# 43,000 notes in a cubin that each claim all bytes behind them.
. "$(dirname "$0")/common.sh"
craft notes 43000 >f
run 0 check f --gpu sm_90 --deep
seconds 2
