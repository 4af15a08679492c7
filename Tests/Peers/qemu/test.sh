#!/bin/sh
# Proves Lockstep against a Debian kernel in a virtual machine: the user channel of a controller behind /dev/vhci, and
# a USB dongle, served by USB/IP, under btusb, usbfs and libusb.
# usage: test.sh LOCKSTEP WORK VENV [userchannel|usb]     LOCKSTEP is the command, WORK keeps the kernel
#
# Beyond QEMU nothing is emulated by us but, for the user channel, the lock: the dongle's controller and the lock on its
# air are Bumble's. A minute and a half.
set -eu
usage='usage: test.sh LOCKSTEP WORK VENV [userchannel|usb]'
here=$(cd "$(dirname "$0")" && pwd)
lockstep=$(realpath "${1:?$usage}")
work=${2:?$usage}
venv=$(realpath "${3:?$usage}")
scenarios=$here/../../../Scenarios/peers

if [ -z "${LOCKSTEP_OWN_NETWORK:-}" ]; then
  "$here/fetch.sh" "$work"
  "$here/mkinitrd.sh" "$work"
  if [ "$(id -u)" = 0 ] && unshare --net true 2> /dev/null; then
    LOCKSTEP_OWN_NETWORK=1 exec unshare --net sh -c 'ip link set lo up; exec "$@"' sh "$0" "$@"
  fi
fi
lab=$(mktemp -d)
children=
finish() {
  for child in $children; do kill "$child" 2> /dev/null || :; done
  rm -rf "$lab"
}
trap finish EXIT
trap 'exit 143' TERM INT

serve() { # serve NAME COMMAND...: starts it and waits until it says that it is ready
  log=$lab/$1.log
  shift
  timeout 200 "$@" > "$log" 2>&1 &
  children="$children $!"
  for _ in $(seq 100); do
    ! grep -q ready "$log" || return 0
    sleep 0.1
  done
  echo "not ready: $*" >&2
  cat "$log" >&2
  exit 1
}
boot() { # boot NAME QEMU-OPTION...: runs that script of guest/ in a guest
  name=$1
  shift
  echo "=== $name"
  timeout 200 "$here/run-vm.sh" "$work" "$lab" "$here/guest/$name.sh" "$@" || {
    echo "$name failed with $?" >&2
    tail -n 30 "$lab"/*.log >&2
    exit 1
  }
}
count() { # count CAPTURE FILTER: how many packets Wireshark finds in it
  tshark -r "$1" -Y "$2" 2> /dev/null | wc -l
}
userchannel() {
  boot userchannel -net none
  # What btmon saw of the two controllers is what we wrote down of the one, twice.
  ours=$(count "$lab/client.btsnoop" btatt)
  theirs=$(count "$lab/userchannel.btsnoop" btatt)
  malformed=$(($(count "$lab/client.btsnoop" _ws.malformed) + $(count "$lab/userchannel.btsnoop" _ws.malformed)))
  echo "$ours ATT packets in our capture, $theirs in btmon's of both ends, $malformed malformed"
  [ "$ours" -gt 0 ] && [ "$theirs" = $((2 * ours)) ] && [ "$malformed" = 0 ]
}
usb() {
  cp "$here/../bumble/lock.yaml" "$lab/"
  serve controller "$venv/bin/python" "$here/../bumble/sesame_lock.py" bumble:9105 "$lab/lock.yaml" --legacy
  serve dongle /usr/bin/python3 "$here/../usbip/usbip_bt_dongle.py" 3240 tcp:127.0.0.1:9105
  boot usb -nic user,model=virtio-net-pci,restrict=on,guestfwd=tcp:10.0.2.100:3240-tcp:127.0.0.1:3240
}

cp "$lockstep" "$lab/lockstep"
cp -r "$scenarios" "$lab/Scenarios"
for part in ${4:-userchannel usb}; do $part; done
echo "the kernel agrees"
