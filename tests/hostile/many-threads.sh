# More threads than the machine will give.
. "$(dirname "$0")/common.sh"
[ -z "${HOSTILE_SLOW:-}" ] || exit 0 # sanitizers reserve terabytes
mkdir d
craft good >good
for ((i = 0; i < 1500; ++i)); do cp good "d/$i"; done
(ulimit -v 900000 && run 0 check d --gpu sm_90 --threads 1024)
quiet
