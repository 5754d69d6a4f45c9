# In a folder they are passed over; a FIFO is not waited for.
. "$(dirname "$0")/common.sh"
mkdir d
mkfifo d/fifo
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("d/socket")'
mknod d/zero c 1 5 2>/dev/null || true
ln -s /dev/zero d/link
craft good >d/good
run 0 check d --gpu sm_90
quiet
grep -q '1 with device code' out || fail 'the good file should be read'
