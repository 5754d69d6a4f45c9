# A cubin cut at every byte behind its magic is damaged; none crashes.
. "$(dirname "$0")/common.sh"
craft fixture cubin/sm_90-cuda13.0.cubin >whole
for ((n = 20; n < 400; ++n)); do head -c $n whole >"cut-$n"; done
for ((n = 400; n < $(stat -c %s whole); n += 37)); do head -c $n whole >"cut-$n"; done
run 1 check cut-* --gpu sm_90 --format jsonl
damaged cut-*
