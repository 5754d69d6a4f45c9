# What is no regular file is told, and neither opened nor waited for.
. "$(dirname "$0")/common.sh"
mkfifo fifo
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
for special in fifo:FIFO socket:socket /dev/zero:device /dev/full:device; do
  run 2 check "${special%:*}"
  problem "expected a regular file, got a ${special#*:}"
done
run 2 check f/g
problem 'No such file or directory'
craft good >f
run 2 check f/g
problem 'Not a directory'
run 2 check ''
problem .
