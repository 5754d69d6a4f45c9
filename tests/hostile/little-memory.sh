# Where memory ends: a line, not a crash.
. "$(dirname "$0")/common.sh"
[ -z "${HOSTILE_SLOW:-}" ] || exit 0 # sanitizers reserve terabytes
craft lz4-bomb 900000000 >f
(ulimit -v 500000 && run 1 check f --gpu sm_90 --deep && finding error CP107 'no memory for 900000000 bytes')
craft many-archs 200000 >f
(ulimit -v 120000 && run 2 check f --gpu sm_90 && problem 'not enough memory')
