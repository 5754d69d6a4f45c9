# A wheel without METADATA is read as a zip; a RECORD that lies about sizes and files is no proof.
. "$(dirname "$0")/common.sh"
for wheel in wheel-without-metadata wheel-lying-record; do
  craft $wheel >f.whl
  run 0 check f.whl --gpu sm_90
  quiet
  grep -q '^ *sm_90 .* runs' out || fail 'the library should be read'
done
