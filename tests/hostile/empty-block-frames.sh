# Frames of empty blocks, which expand to nothing however far they are followed.
. "$(dirname "$0")/common.sh"
craft empty-block-frames 20000 300 >f
run 0 check f --gpu sm_90 --deep
quiet
seconds 10
craft empty-block-frames 3 10000000 >f
run 0 check f --gpu sm_90 --deep
seconds 10
