#!/bin/sh
# Makes the virtual environment with the pinned Bumble and rootcanal, if it is not there yet.
# usage: setup.sh [VENV]                                 .build/peers/venv unless told
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv=${1:-$here/../../.build/peers/venv}
pins='bumble==0.0.236 rootcanal==1.10.0'
[ "$(cat "$venv/pins" 2> /dev/null)" != "$pins" ] || exit 0
mkdir -p "$(dirname "$venv")"
/usr/bin/python3 -m venv --clear "$venv"
# Two words, which are meant to be split.
# shellcheck disable=SC2086
"$venv/bin/pip" install --quiet --disable-pip-version-check $pins
echo "$pins" > "$venv/pins"
echo "$pins in $venv"
