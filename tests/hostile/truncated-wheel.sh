# A wheel cut at every byte: one line each, exit code 2.
. "$(dirname "$0")/common.sh"
craft wheel >whole
size=$(stat -c %s whole)
for ((n = 4; n < size; n += 3)); do head -c $n whole >"cut-$n.whl"; done
run 2 check cut-*.whl --gpu sm_90
[ "$(wc -l <err)" -eq "$(ls cut-*.whl | wc -l)" ] || fail 'expected one line a wheel'
! grep -v 'zip without a central directory: cut short' err || fail 'expected another phrase'
