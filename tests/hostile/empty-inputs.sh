# Nothing at all, in each form.
. "$(dirname "$0")/common.sh"
: >empty
mkdir folder
printf 'PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >empty.zip
run 0 check empty folder empty.zip --gpu sm_90
quiet
run 0 inspect empty folder empty.zip
quiet
