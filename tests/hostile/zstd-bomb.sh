# 30 KB that expand to a gigabyte, and 30 MB that would expand to a terabyte.
. "$(dirname "$0")/common.sh"
for raw in 1000000000 1099511627776; do
  craft zstd-bomb $raw >f
  run 1 check f --gpu sm_90 --deep
  finding error CP107 'claim to expand to'
  seconds 5
done
