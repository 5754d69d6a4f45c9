# An LZ4 block at the highest ratio that LZ4 has, a gigabyte of zeros, is expanded and refused.
. "$(dirname "$0")/common.sh"
craft lz4-bomb 900000000 >f
run 1 check f --gpu sm_90 --deep
finding error CP107 'expected a cubin'
