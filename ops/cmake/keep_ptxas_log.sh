#!/bin/sh
# Compiler launcher: runs the command and keeps the resource report of ptxas in OBJECT.ptxas.
object=''
previous=''
for word in "$@"; do
  [ "$previous" != -o ] || object=$word
  previous=$word
done
status=0
"$@" 2>"$object.ptxas" || status=$?
# Warnings and errors still reach the build's log.
grep -vE '^ptxas info|bytes stack frame|^ *$|bytes gmem' "$object.ptxas" >&2
exit $status
