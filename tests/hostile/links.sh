# Links in a circle, to nothing, to the folder itself and to its parent.
. "$(dirname "$0")/common.sh"
mkdir -p d/sub
ln -s a d/b && ln -s b d/a
ln -s nowhere d/dangling
ln -s . d/self
ln -s .. d/sub/parent
ln -s "$temp" d/sub/outside
craft good >d/good
ln -s good d/again
ln d/good d/sub/hard
run 0 check d --gpu sm_90
quiet
[ "$(grep -c '^d/.* fatbin' out)" -eq 1 ] || fail 'the good file should be told once'
for link in d/a d/dangling; do
  run 2 check $link
  problem .
done
