#!/bin/bash
# Run every test of this folder, two at a time: CUPROOF=build/release/cuproof run.sh [NAME...]
cd "$(dirname "$0")" || exit 2
export CUPROOF
[ -z "${CUPROOF:-}" ] || CUPROOF=$(readlink -f "$OLDPWD/$CUPROOF" 2>/dev/null || readlink -f "$CUPROOF")
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
names=${*:-$(ls ./*.sh | sed 's,^\./,,; s,\.sh$,,' | grep -vx -e common -e run)}
# shellcheck disable=SC2016
printf '%s\n' $names | xargs -P 2 -I NAME sh -c 'if bash NAME.sh >"$0/NAME" 2>&1; then
  echo NAME >>"$0/.passed"; else echo NAME >>"$0/.failed"; cat "$0/NAME"; fi' "$logs"
passed=$(cat "$logs/.passed" 2>/dev/null | wc -l)
failed=$(cat "$logs/.failed" 2>/dev/null | wc -l)
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
