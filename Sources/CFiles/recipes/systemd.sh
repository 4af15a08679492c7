#!/bin/sh
# Made by: {{origin}}
# Run it as root: it installs {{name}}.service and {{name}}.timer. 'systemctl start {{name}}' starts a run at once,
# 'systemctl list-timers' says when the next one is, 'journalctl -u {{name}}' what the last one said.
set -eu
units=${UNITS:-/etc/systemd/system}

cat > "$units/{{name}}.service" <<'UNIT'
{{service}}
UNIT

{{resumption}}
cat > "$units/{{name}}.timer" <<'UNIT'
[Unit]
Description=Lockstep, every day at {{time}}

[Timer]
OnCalendar=*-*-* {{time}}:00
AccuracySec=1min
# A night on which the machine was off is made up for.
Persistent=true

[Install]
WantedBy=timers.target
UNIT

if [ -d /run/systemd/system ] && [ -z "${UNITS:-}" ]; then
  {{setUpLine}}
  systemctl daemon-reload
  systemctl enable --now {{name}}.timer
      {{enableResumption}}
fi
