# A container that says that it ends inside its first entry.
. "$(dirname "$0")/common.sh"
craft lying-container 100 >f
run 1 check f --gpu sm_90
finding error CP107 'the entry says its image has [0-9]* bytes, 36 are left'
