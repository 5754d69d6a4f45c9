# A container that says that it is larger than the file, and than any file.
. "$(dirname "$0")/common.sh"
for size in 1000 18446744073709551615 18446744073709551600; do
  craft lying-container $size >f
  run 1 check f --gpu sm_90
  finding error CP107 "the container says $size bytes follow its header"
done
