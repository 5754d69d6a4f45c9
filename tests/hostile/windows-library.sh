# A DLL, cut at every byte.
. "$(dirname "$0")/common.sh"
craft pe >whole
run 0 check whole --gpu sm_90
for ((n = 2; n < $(stat -c %s whole); n += 3)); do head -c $n whole >"cut-$n"; done
run 1 check cut-* --gpu sm_90
