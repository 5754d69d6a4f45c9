# A folder in which files appear and vanish while it is read.
. "$(dirname "$0")/common.sh"
mkdir d
craft good >good
(while :; do for i in {1..50}; do cp good "d/$i"; done; rm -f d/*; done) &
writer=$!
for _ in {1..20}; do
  run '0 1 2' check d --gpu sm_90
  ! grep -v 'No such file\|cut short\|got shorter' err || fail 'expected another line'
done
kill $writer
