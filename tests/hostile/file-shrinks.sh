# A file that somebody cuts short and writes again while it is read: an answer or a line, no crash.
. "$(dirname "$0")/common.sh"
craft many-bombs 3000 >whole
cp whole f
(while :; do truncate -s 4096 f; cat whole >f; done) &
writer=$!
for _ in {1..15}; do
  run '0 1 2' check f --gpu sm_90 --deep
  [ "$(wc -l <err)" -le 1 ] || fail 'expected one line at most'
done
kill $writer
