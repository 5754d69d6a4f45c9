# A shared library cut behind its container: the host part is damaged, the container is read.
. "$(dirname "$0")/common.sh"
craft elf >whole
head -c -100 whole >part
run 1 check part --gpu sm_90
finding error CP107 'section table .* cut short'
grep -q '2 images in 1 module' out || fail 'the container should be read'
