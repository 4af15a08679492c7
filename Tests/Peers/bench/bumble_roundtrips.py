#!/usr/bin/env python3
"""Bumble on itself: two devices on one virtual air; how many write commands a second are answered by a notification.

usage: bumble_roundtrips.py [COUNT]                     prints one JSON object
"""

import asyncio
import json
import sys
import time

from bumble.controller import Controller
from bumble.core import UUID
from bumble.device import Device, Peer
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.hci import Address
from bumble.host import Host
from bumble.link import LocalLink

SERVICE = "0000FD81-0000-1000-8000-00805F9B34FB"
WRITE = "16860002-A5AE-9856-B6D3-DBB4C676993E"
NOTIFY = "16860003-A5AE-9856-B6D3-DBB4C676993E"
FRAME = b"\x05" + bytes(8)


def device(name, number, air):
    controller = Controller(name, link=air, public_address=Address(f"C0:00:00:00:00:{number:02X}/P"))
    own = Address(f"F1:F2:F3:F4:F5:{number:02X}")
    return Device(name=name, address=own, host=Host(controller, controller))


async def connect(central, peripheral):
    """The central's end of both characteristics; what is written comes back as a notification."""
    notifying = Characteristic(NOTIFY, Characteristic.Properties.NOTIFY, Characteristic.READABLE, b"")

    def written(_connection, value):
        asyncio.get_running_loop().create_task(peripheral.notify_subscribers(notifying, bytes(value)))

    writable = Characteristic(
        WRITE,
        Characteristic.Properties.WRITE_WITHOUT_RESPONSE,
        Characteristic.WRITEABLE,
        CharacteristicValue(write=written),
    )
    peripheral.add_service(Service(SERVICE, [writable, notifying]))
    await central.power_on()
    await peripheral.power_on()
    await peripheral.start_advertising()
    peer = Peer(await central.connect(peripheral.random_address))
    await peer.discover_services()
    await peer.discover_characteristics()
    return [peer.get_characteristics_by_uuid(UUID(uuid))[0] for uuid in (WRITE, NOTIFY)]


async def main(count):
    air = LocalLink()
    write, notify = await connect(device("central", 1, air), device("peripheral", 2, air))
    answers = asyncio.Queue()
    await notify.subscribe(answers.put_nowait)
    start, start_cpu = time.perf_counter(), time.process_time()
    for _ in range(count):
        await write.write_value(FRAME, with_response=False)
        await answers.get()
    seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    method = f"{count} writes of {len(FRAME)} octets between two Bumble devices in one process"
    figures = {"value": round(count / seconds), "per_cpu_second": round(count / cpu)}
    print(json.dumps({"name": "bumble.round-trips", **figures, "unit": "per second", "method": method}))


asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5000))
