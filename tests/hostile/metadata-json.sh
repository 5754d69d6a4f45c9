# metadata.json beside a library: nested without end, of wrong types, and not UTF-8.
. "$(dirname "$0")/common.sh"
craft good >lib.so
for text in "$(printf '[%.0s' {1..60000})" "$(printf '{"backend":%.0s' {1..5000})" '{"backend":[]}' \
  '{"backend":{"type":1,"archs":{}}}' '{"backend":{"type":"cuda","archs":[[],{},1,null]}}' \
  $'{"backend":{"type":"cuda","archs":["\xff"]}}' $'{"backend":{"type":"cuda","archs":["\\u001b[2J"]}}'; do
  printf '%s' "$text" >metadata.json
  for format in text json; do run 0 check lib.so --gpu sm_90 --format $format; done
done
