#!/bin/sh
# Runs one exchange on Bumble and on Lockstep, by turns on the same machine, and prints how much faster Lockstep is. Both
# count at their best: Lockstep by its best run, Bumble by the processor's time.
# usage: compare_round_trips.sh LOCKSTEP VENV
set -eu
usage='usage: compare_round_trips.sh LOCKSTEP VENV'
here=$(cd "$(dirname "$0")" && pwd)
lockstep=${1:?$usage}
venv=${2:?$usage}
figures=$(mktemp)
trap 'rm -f "$figures"' EXIT

for _ in 1 2 3; do
  "$venv/bin/python" "$here/bumble_roundtrips.py" | tee -a "$figures"
  "$lockstep" bench --only radio.round-trips | tee -a "$figures"
done
/usr/bin/python3 - "$figures" << 'END'
import json, sys
best = {}
for line in open(sys.argv[1]):
    figure = json.loads(line)
    value = max(figure["value"], figure.get("per_cpu_second", 0))
    best[figure["name"]] = max(value, best.get(figure["name"], 0))
ours, theirs = best["radio.round-trips"], best["bumble.round-trips"]
print(json.dumps({"name": "peers.round-trips", "value": round(ours / theirs, 1), "unit": "times Bumble's"}))
END
