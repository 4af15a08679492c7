#!/bin/sh
# Runs the Sesame 5 scenarios between two of our hosts over rootcanal, in real time: a quarter of an hour. The scenario
# in which nothing happens for an hour is left out.
# usage: full.sh LOCKSTEP VENV [run options]              the report goes to Reports/peers
set -eu
usage='usage: full.sh LOCKSTEP VENV [run options]'
here=$(cd "$(dirname "$0")" && pwd)
lockstep=$(realpath "${1:?$usage}")
venv=$(realpath "${2:?$usage}")
shift 2
cd "$here/../.."
if [ "$(id -u)" = 0 ] && [ -z "${LOCKSTEP_OWN_NETWORK:-}" ] && unshare --net true 2> /dev/null; then
  LOCKSTEP_OWN_NETWORK=1 exec unshare --net sh -c 'ip link set lo up; exec "$@"' sh "$0" "$lockstep" "$venv" "$@"
fi
scratch=$(mktemp -d)
children=
finish() {
  for child in $children; do kill "$child" 2> /dev/null || :; done
  rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

# What is kept of real locks from run to run is of no use here, and must not mix with a user's.
export XDG_STATE_HOME="$scratch/state"

await() { # await LOG TEXT: waits until it is said
  for _ in $(seq 100); do
    ! grep -q "$2" "$1" || return 0
    sleep 0.1
  done
  cat "$1" >&2
  exit 1
}
timeout 3600 "$here/rootcanal/start.sh" "$venv" "$scratch" > "$scratch/rootcanal.log" 2>&1 &
children=$!
await "$scratch/rootcanal.log" 'initialize: Finished'
timeout 3600 "$lockstep" emulate sesame5 --carrier tcp-client:127.0.0.1:6402 --key-file "$scratch/lock.yaml" \
  --control "unix:$scratch/control" > "$scratch/emulate.log" 2>&1 &
children="$children $!"
await "$scratch/emulate.log" advertising
find Scenarios/peers Scenarios/sesame5 -name '*.yaml' ! -name idle.yaml | sort | xargs "$lockstep" run \
  --carrier tcp-client:127.0.0.1:6402 --device "lock:$scratch/lock.yaml" --control "unix:$scratch/control" \
  --capture "$scratch/client.btsnoop" --out Reports/peers "$@"
