# 16 million places where a zstd frame could start.
. "$(dirname "$0")/common.sh"
craft zstd-magics 16000000 >f
run 0 check f --gpu sm_90 --deep
quiet
seconds 10
