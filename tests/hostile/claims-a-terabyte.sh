# Sizes are claims: nothing is allocated for them.
. "$(dirname "$0")/common.sh"
for raw in 1099511627776 18446744073709551615; do
  craft claims-much $raw >f
  run 1 check f --gpu sm_90 --deep
  finding error CP107 "claim to expand to $raw"
done
[ "$(tail -1 cost | cut -d' ' -f1)" -le "${HOSTILE_MEMORY_KB:-50000}" ] || fail 'too much memory'
