# An LZ4 block that goes on past the size that its entry names.
. "$(dirname "$0")/common.sh"
craft endless-lz4 1000000 >f
run 1 check f --gpu sm_90 --deep
finding error CP107 'the LZ4 block is damaged'
