# A comment full of end records, each of which could lead to a directory.
. "$(dirname "$0")/common.sh"
craft zip-comment-ends 2900 >f.zip
run 2 check f.zip --gpu sm_90
problem 'zip with more than 64 end records'
