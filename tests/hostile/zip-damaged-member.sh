# A member whose bytes changed on the way, one that is encrypted, and methods that are not read.
. "$(dirname "$0")/common.sh"
craft zip-bad-crc >f.zip
run 2 check f.zip --gpu sm_90
problem 'f.zip!a.cubin: the member.s CRC-32 does not match'
craft zip-encrypted >f.zip
run 2 check f.zip --gpu sm_90
problem 'f.zip!a.cubin: the member is encrypted'
for method in 1 6 9 93 97 98 12345; do
  craft zip-method $method >f.zip
  run 2 check f.zip --gpu sm_90
  problem "f.zip!a.cubin: the member is compressed by method $method"
done
