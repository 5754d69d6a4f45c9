# An entry that says that its image is larger than its container.
. "$(dirname "$0")/common.sh"
for size in 201 1000 18446744073709551615 18446744073709551552; do
  craft lying-entry $size >f
  run 1 check f --gpu sm_90
  finding error CP107 "the entry says its image has $size bytes"
done
