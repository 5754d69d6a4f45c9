# A member that expands two hundredfold and more, past the size where that is no accident.
. "$(dirname "$0")/common.sh"
craft zip-bomb 600000000 >f.zip
run 2 check f.zip --gpu sm_90
problem 'claims to expand from .* to .* bytes'
seconds 3
