# In the guest: the USB/IP dongle that the host serves, through btusb, then taken from btusb by libusb.
# needs /lab/lockstep, /lab/Scenarios, /lab/lock.yaml, and -nic user,…,guestfwd=tcp:10.0.2.100:3240-…
modprobe -a virtio_net vhci-hcd bluetooth algif_hash algif_skcipher cmac ecb
busybox ip link set eth0 up
busybox ip addr add 10.0.2.15/24 dev eth0
timeout 15 usbip attach -r 10.0.2.100 -b 1-1 || exit 1
for _ in 1 2 3 4 5 6 7 8 9 10; do
  ! lsusb -d 0a12:0001 || break
  sleep 1
done
export XDG_STATE_HOME=/tmp/state
cp /lab/lock.yaml /tmp/lock.yaml
chmod 600 /tmp/lock.yaml

unlock() { # unlock TRANSPORT: logs in to the lock on its air, unlocks it and locks it
  echo "--- $1"
  timeout 60 /lab/lockstep run /lab/Scenarios --transport "$1" --device lock:/tmp/lock.yaml --out /lab/Reports \
    > /lab/run.log 2>&1
  code=$?
  cat /lab/run.log
  return $code
}
modprobe btusb
sleep 2
hciconfig | grep -E 'hci|BD'
unlock hci-socket:0 || exit
unlock usb:0A12:0001 || exit
sleep 2
hciconfig hci0 && echo "the kernel has its dongle back"
