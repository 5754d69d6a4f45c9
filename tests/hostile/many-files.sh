# A zip of 20,000 libraries that do not run on the GPU, and one that does: each asks for the others.
. "$(dirname "$0")/common.sh"
craft zip-libraries 20000 >f.zip
run 1 check f.zip --gpu sm_75
[ ! -s err ] || fail 'standard error should be empty'
grep -q 'error\[CP101\]' out || fail 'expected a finding'
seconds 10
