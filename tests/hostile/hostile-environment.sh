# An active environment that does not exist, or has a name of control bytes.
. "$(dirname "$0")/common.sh"
for folder in /nowhere $'\e[2J' ''; do
  export VIRTUAL_ENV="$folder"
  run 2 check
  problem .
done
