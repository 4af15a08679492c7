#!/usr/bin/env python3
"""Two Bumble hosts on two controllers of one air: everything that GATT has between them, over and over.

usage: gatt_exchange.py PERIPHERAL CENTRAL [--rounds N]
       both are Bumble's transports: tcp-client:127.0.0.1:9301, unix:/path, …

Each step says PASS or FAIL; the exit status is 0 when all passed.
"""

import argparse
import asyncio
import sys
import time

sys.dont_write_bytecode = True
from bumble import att
from bumble.core import UUID, AdvertisingData
from bumble.device import Connection, Device, Peer
from bumble.gatt import Characteristic, CharacteristicValue, Descriptor, Service
from bumble.hci import Address
from bumble.transport import open_transport

SERVICE = UUID("5A0A0001-1D5F-4E4C-8F9E-3C1C5D7A0B10")
VALUE = UUID("5A0A0002-1D5F-4E4C-8F9E-3C1C5D7A0B10")
ECHO = UUID("5A0A0003-1D5F-4E4C-8F9E-3C1C5D7A0B10")
TELL = UUID("5A0A0004-1D5F-4E4C-8F9E-3C1C5D7A0B10")
DESCRIPTOR = UUID("5A0A0005-1D5F-4E4C-8F9E-3C1C5D7A0B10")
START = time.monotonic()


class Failed(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Failed(what)
    print("%8.1f ms PASS %s" % ((time.monotonic() - START) * 1e3, what), flush=True)


async def within(seconds, what, awaitable):
    try:
        return await asyncio.wait_for(awaitable, seconds)
    except asyncio.TimeoutError:
        raise Failed(what + ": nothing within %g s" % seconds) from None


class Server:
    """A characteristic to read and write, one that echoes what is written to it, one that tells."""

    def __init__(self, device):
        self.device, self.stored = device, bytes(range(100))
        self.tell = Characteristic(
            TELL,
            Characteristic.Properties.NOTIFY | Characteristic.Properties.INDICATE,
            Characteristic.READABLE,
            b"",
        )
        value = Characteristic(
            VALUE,
            Characteristic.Properties.READ | Characteristic.Properties.WRITE,
            Characteristic.READABLE | Characteristic.WRITEABLE,
            CharacteristicValue(read=lambda _: self.stored, write=self.store),
            [Descriptor(DESCRIPTOR, Descriptor.READABLE, b"a descriptor")],
        )
        echo = Characteristic(
            ECHO,
            Characteristic.Properties.WRITE_WITHOUT_RESPONSE,
            Characteristic.WRITEABLE,
            CharacteristicValue(write=self.echo),
        )
        device.add_service(Service(SERVICE, [value, echo, self.tell]))

    def store(self, _connection, value):
        if value == b"no":
            raise att.ATT_Error(att.ErrorCode.VALUE_NOT_ALLOWED)
        self.stored = bytes(value)

    def echo(self, _connection, value):
        asyncio.create_task(self.device.notify_subscribers(self.tell, bytes(value)[::-1]))


async def talk(central, peripheral, server):
    """One connection, from the first request to the disconnection."""
    connection = await within(10, "the connection", central.connect(peripheral.random_address))
    check(connection.handle is not None, "connected")
    peer = Peer(connection)
    check(await within(5, "the MTU", peer.request_mtu(247)) == 247, "ATT MTU 247")

    services = await within(5, "the services", peer.discover_service(SERVICE))
    check(len(services) == 1, "the service")
    await within(5, "the characteristics", services[0].discover_characteristics())
    found = {c.uuid: c for c in services[0].characteristics}
    check(set(found) == {VALUE, ECHO, TELL}, "three characteristics")
    for characteristic in found.values():
        await within(5, "the descriptors", characteristic.discover_descriptors())
    described = [d for d in found[VALUE].descriptors if d.type == DESCRIPTOR]
    check(len(described) == 1, "a descriptor")
    check(await within(5, "it", described[0].read_value()) == b"a descriptor", "read it")

    check(await within(5, "the value", found[VALUE].read_value()) == server.stored, "read 100 octets")
    long = bytes((7 * i) & 0xFF for i in range(200))
    await within(5, "the write", found[VALUE].write_value(long, with_response=True))
    check(server.stored == long, "wrote 200 octets, in several ACL packets")
    try:
        await within(5, "the refusal", found[VALUE].write_value(b"no", with_response=True))
        raise Failed("a value that is not allowed was written")
    except att.ATT_Error as error:
        check(error.error_code == att.ErrorCode.VALUE_NOT_ALLOWED, "refused as it should be")

    told = asyncio.Queue()
    await within(5, "the subscription", found[TELL].subscribe(told.put_nowait, prefer_notify=True))
    for count in range(1, 21):
        words = bytes([count]) * (count * 12)
        await found[ECHO].write_value(words, with_response=False)
        if await within(5, "the echo", told.get()) != words[::-1]:
            raise Failed("a wrong echo")
    check(True, "20 write commands echoed, up to 240 octets")
    await within(5, "the second subscription", found[TELL].unsubscribe())
    await within(5, "the second subscription", found[TELL].subscribe(told.put_nowait, prefer_notify=False))
    await within(5, "the confirmation", server.device.indicate_subscribers(server.tell, b"indicated"))
    check(await within(5, "the indication", told.get()) == b"indicated", "an indication, confirmed")
    return connection


async def run(options):
    async with (
        await open_transport(options.peripheral) as below,
        await open_transport(options.central) as above,
    ):
        peripheral = Device.with_hci("peripheral", Address("F1:F2:F3:F4:F5:F6"), *below)
        central = Device.with_hci("central", Address("C1:C2:C3:C4:C5:C6"), *above)
        server = Server(peripheral)
        peripheral.advertising_data = bytes(
            AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, b"exchange")])
        )
        await within(10, "the peripheral's controller", peripheral.power_on())
        await within(10, "the central's controller", central.power_on())
        check(True, "both controllers are set up")
        for number in range(options.rounds):
            await peripheral.start_advertising()
            ends = asyncio.Queue()
            peripheral.once("connection", lambda c: c.on(Connection.EVENT_DISCONNECTION, ends.put_nowait))
            connection = await talk(central, peripheral, server)
            connection.on(Connection.EVENT_DISCONNECTION, ends.put_nowait)
            # By turns, either end hangs up.
            ending = connection if number % 2 == 0 else next(iter(peripheral.connections.values()))
            await within(5, "the disconnection", ending.disconnect())
            reasons = sorted([await within(5, "both ends", ends.get()) for _ in range(2)])
            check(reasons in ([0x13, 0x16], [0x13, 0x13]), "disconnected, %s" % list(map(hex, reasons)))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("peripheral", metavar="PERIPHERAL")
    parser.add_argument("central", metavar="CENTRAL")
    parser.add_argument("--rounds", type=int, default=2, help="how many connections (2)")
    try:
        asyncio.run(run(parser.parse_args()))
    except (Failed, att.ATT_Error) as failure:
        print("FAIL", failure, flush=True)
        return 1
    print("OK")
    return 0


sys.exit(main())
