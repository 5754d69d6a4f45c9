# Names that would clear the screen, forge a line, or turn the text around, of good, bad and
# missing files.
. "$(dirname "$0")/common.sh"
mkdir names
for name in $'\e[2Jx' $'a\nerror[CP101] forged' $'\xff\xfe' $'\u202etxt.os' $'\u200b' $'\xc2\x9b2J' $'a\rb' $'\b\b\b'; do
  craft good >"names/$name"
  craft lying-container 999 >"names/bad$name"
  run 2 check "gone$name" --gpu sm_90
  problem 'No such file or directory'
done
for format in text json jsonl; do run 1 check names --gpu sm_90 --format $format; done
run 1 check names --gpu sm_90
! grep -q '^error\[CP101\]' out || fail 'a file name forged a finding'
run 0 inspect names
run 0 inspect names --images
