# Folders 2,000 deep, and deeper than a path can name.
. "$(dirname "$0")/common.sh"
nest() { python3 - "$1" "$2" <<'PY'
import os, shutil, sys
for _ in range(int(sys.argv[1])):
    os.mkdir(sys.argv[2])
    os.chdir(sys.argv[2])
PY
}
mkdir short long
(cd short && nest 1900 d)
craft good >short/d/d/d/good
run 0 check short --gpu sm_90
quiet
(cd long && nest 100 "$(printf 'n%.0s' {1..200})")
craft good >long/good
run 2 check long --gpu sm_90
problem 'File name too long'
grep -q '^ *sm_90 .* runs' out || fail 'the good file should be read'
