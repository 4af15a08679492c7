#!/bin/sh
# Makes the virtual environment with the pinned Bumble and rootcanal, and with the Hypothesis and the AALpy that fuzzing is
# compared with, with the schemas of CI systems' files and of Kubernetes', with labgrid, with pytest, which runs
# scenarios, with readers of reports, with a linter of Python, and with what the checks of HTML reports drive a browser by, if it is
# not there yet.
# usage: setup.sh [VENV]                                 .build/peers/venv unless told
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv=${1:-$here/../../.build/peers/venv}
pins='bumble==0.0.236 rootcanal==1.10.0 hypothesis==6.170.15 aalpy==2.0.0 check-jsonschema==0.39.0'
pins="$pins playwright==1.65.2 axe-playwright-python==0.1.8 labgrid==26.0.1 kubernetes-validate==1.37.0"
pins="$pins pytest==9.2.0 pytest-xdist==3.8.0"
# What looks at programs in Python.
pins="$pins ruff==0.17.6"
# Readers of reports.
pins="$pins junitparser==5.0.3 junit2html==31.1.4 xunitparser==1.3.4 flakemap==0.3.7 allure-python-commons==2.16.2"
[ "$(cat "$venv/pins" 2> /dev/null)" != "$pins" ] || exit 0
mkdir -p "$(dirname "$venv")"
# What is there is of other versions, or half made. Only what we make ourselves is ever removed.
if [ -e "$venv" ] || [ -L "$venv" ]; then
  if [ -L "$venv" ] || [ ! -e "$venv/pyvenv.cfg" ]; then
    echo "$venv is not a virtual environment that may be replaced" >&2
    exit 1
  fi
  rm -rf "$venv"
fi
/usr/bin/python3 -m venv "$venv"
# Several words, which are meant to be split.
# shellcheck disable=SC2086
"$venv/bin/pip" install --quiet --disable-pip-version-check $pins
echo "$pins" > "$venv/pins"
echo "$pins in $venv"
