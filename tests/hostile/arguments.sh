# Arguments that mean nothing: one line each, escaped, exit code 2.
. "$(dirname "$0")/common.sh"
craft good >f
esc=$'\e[2J\n'
for bad in "--gpu nonsense" "--gpu sm_0" "--gpu sm_99999999999999999999" "--gpu -1" "--driver x" \
  "--driver 99999999999999999999" "--driver 0" "--cuda x" "--cuda -1" "--format x" "--color x" \
  "--fail-on x" "--threads 0" "--threads x" "--threads 99999" "--data nowhere" "-o" "--bogus"; do
  run 2 check f $bad
  problem .
  [ ! -s out ] || fail "output in spite of $bad"
done
for option in --gpu --driver --cuda --format --data --threads --color --fail-on; do
  run 2 check f $option "$esc"
  problem .
  run 2 check f $option ''
  problem .
done
