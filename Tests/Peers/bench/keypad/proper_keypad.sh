#!/bin/sh
# Tests the keypad lock with PropEr, and prints a table. It needs Debian's erlang-base and erlang-proper.
# usage: proper_keypad.sh [EVENTS [SEEDS [FAULT…]]]     200000 events and three seeds, unless given; `healthy` is no fault
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
events=${1:-200000}
seeds=${2:-3}
[ $# -lt 2 ] || shift
[ $# -lt 1 ] || shift
erlc -o "$work" "$here/keypad.erl" "$here/proper_keypad.erl"
# One scheduler: the search is one process.
erl -noshell +S 1 -pa "$work" -run proper_keypad main "$events" "$seeds" "$@"
