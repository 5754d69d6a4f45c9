# A shared library cut behind its container: the host part is damaged, the container is read.
. "$(dirname "$0")/common.sh"
craft elf >whole
head -c -100 whole >part
run 1 check part --gpu sm_90
finding error CP107 'section table .* cut short'
grep -q '2 images in 1 module' out || fail 'the container should be read'

# One without device code is told in a folder as it is by its name.
mkdir folder
echo 'int answer(void) { return 42; }' | cc -x c -shared -o library.so -
head -c -2000 library.so >folder/cut.so
run 1 check folder/cut.so --gpu sm_90
finding error CP107 'cut'
run 1 check folder --gpu sm_90
finding error CP107 'cut'
