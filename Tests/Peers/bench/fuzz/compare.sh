#!/bin/sh
# Runs the open benchmark with Hypothesis, PropEr, AALpy and Lockstep, and prints one table. The others get five seeds, three
# for what takes them long, and a budget of events and of time, so that all of it takes less than ten minutes; Lockstep
# gets its twenty.
# usage: compare.sh LOCKSTEP VENV
set -eu
usage='usage: compare.sh LOCKSTEP VENV'
here=$(cd "$(dirname "$0")" && pwd)
lockstep=${1:?$usage}
venv=${2:?$usage}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1

# What a tool prints before its time is up counts.
run() {
  "$@" >> "$work/figures" || echo "$1 ended with status $?" >&2
}

run timeout 200 "$venv/bin/python" "$here/hypothesis_search.py" 5 60000
run timeout 60 "$venv/bin/python" "$here/aalpy_search.py" 5 300000
if command -v erlc > /dev/null; then
  erlc -o "$work" "$here/proper_search.erl"
  run timeout 200 erl -noshell -pa "$work" -s proper_search main 5 200000
else
  echo "PropEr is left out: erlang-base and erlang-proper are not installed" >&2
fi
run "$lockstep" bench --only reference.events
run "$lockstep" bench --only fuzz.
cat "$work/figures"
/usr/bin/python3 "$here/table.py" < "$work/figures"
