# The same for names within a zip.
. "$(dirname "$0")/common.sh"
for name in $'\e[2Jx' $'a\nerror[CP101] forged' $'\u202etxt.os' $'\xc2\x9b2J' $'a\rb'; do
  craft zip "$name" >f.zip
  for format in text json jsonl; do run 1 check f.zip --gpu sm_80 --format $format; done
  run 1 check f.zip --gpu sm_80
  ! grep -q '^error\[CP101\] forged' out || fail 'a member name forged a finding'
  run 0 inspect f.zip --images
done
