# Members that are longer or shorter than the zip says, stored or deflated.
. "$(dirname "$0")/common.sh"
for lie in "zip-lying-size 9" "zip-lying-size 100000" "zip-lying-size 4294967295" \
  "zip-lying-stored 9" "zip-lying-stored 100000"; do
  craft $lie >f.zip
  run 2 check f.zip --gpu sm_90
  problem .
  seconds 3
done
