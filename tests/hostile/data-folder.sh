# A --data folder with tables that are none: one line, exit code 2.
. "$(dirname "$0")/common.sh"
craft good >f
mkdir data
for text in '' $'\e[2J' $'sm\tname\n1\t2\t3\n' "$(head -c 3000 /dev/zero | tr '\0' '\t')"; do
  for table in archs drivers ptx_isa; do printf '%s' "$text" >data/$table.tsv; done
  run '0 2' check f --gpu sm_90 --data data
  [ "$(wc -l <err)" -le 1 ] || fail 'expected one line at most'
done
head -c 100000 /dev/urandom >data/archs.tsv
run '0 2' check f --gpu sm_90 --data data
