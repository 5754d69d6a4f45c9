# A fatbin cut at every byte: damage is said once for each, and never passed over.
. "$(dirname "$0")/common.sh"
craft good >whole
size=$(stat -c %s whole)
for ((n = 4; n < size; ++n)); do head -c $n whole >"cut-$n"; done
run 1 check cut-* --gpu sm_90 --format jsonl
damaged cut-*
