# A PTX text that ends inside a block.
. "$(dirname "$0")/common.sh"
craft ptx | head -c -5 >part
run 1 check part --gpu sm_90
finding error CP107 'ends inside a block: it is cut short'
