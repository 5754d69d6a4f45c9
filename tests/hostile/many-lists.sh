# A zip of 2 MB with 40 members that each list 250,000 images: more than is kept in one run.
. "$(dirname "$0")/common.sh"
craft zip-lists 40 250000 >f.zip
memory_kb=${HOSTILE_MEMORY_KB:-3000000}
run 2 check f.zip --gpu sm_90
grep -q 'the bound is 4000000' err || fail 'the bound should be told'
seconds 15
