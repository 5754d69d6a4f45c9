# The same with a zip.
. "$(dirname "$0")/common.sh"
craft zip-members 20000 >whole
cp whole f.zip
(while :; do truncate -s 4096 f.zip; cat whole >f.zip; done) &
writer=$!
for _ in {1..10}; do
  run '0 1 2' check f.zip --gpu sm_90
  [ "$(wc -l <err)" -le 60 ] || fail 'too many lines'
done
kill $writer
