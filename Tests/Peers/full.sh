#!/bin/sh
# Runs the Sesame scenarios between two of our hosts over rootcanal, in real time: half an hour.
# usage: full.sh LOCKSTEP VENV [run options]              the reports go to Reports/peers/
#
# Left out is what cannot be: an hour in which nothing happens, and a fault that must fall between two packets of a login,
# which nobody can aim at in real time.
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
export LOCKSTEP_STATE="$scratch/state/lockstep"

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

meet() { # meet LOCK RUN-OPTION...: all of one generation's scenarios
  name=$1
  shift
  timeout 3600 "$lockstep" emulate "$name" --transport tcp-client:127.0.0.1:6402 --key-file "$scratch/$name.yaml" \
    --control "unix:$scratch/control" > "$scratch/$name.log" 2>&1 &
  lock=$!
  children="$children $lock"
  await "$scratch/$name.log" advertising
  mkdir -p "Reports/peers/$name"
  find "Scenarios/$name" Scenarios/peers -name '*.yaml' ! -name idle.yaml ! -name drop-during-login.yaml \
    ! -name 'table-*' | sort | xargs "$lockstep" run \
    --transport tcp-client:127.0.0.1:6402 --device "lock:$scratch/$name.yaml" --control "unix:$scratch/control" \
    --capture "Reports/peers/$name/client.btsnoop" --out "Reports/peers/$name" "$@" || status=$?
  kill "$lock"
  wait "$lock" || :
}
status=0
meet sesame5 "$@"
meet sesame3 "$@"
exit $status
