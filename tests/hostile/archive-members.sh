# A million empty members of an archive.
. "$(dirname "$0")/common.sh"
craft archive-members 1000000 >f
run 0 check f
quiet
seconds 4
