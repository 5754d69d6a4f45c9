# Zips within zips: three are followed, the rest is told.
. "$(dirname "$0")/common.sh"
craft zip-nested 3 >f.zip
run 0 check f.zip --gpu sm_90
quiet
grep -q '^ *sm_90 .* runs' out || fail 'the cubin should be read'
for depth in 4 6 40; do
  craft zip-nested $depth >f.zip
  run 0 check f.zip --gpu sm_90
  finding note CP116 'zip within zips, too deep'
done
