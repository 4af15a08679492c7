#!/usr/bin/env python3
"""A Bumble central that finds a Sesame 5, logs in with a key, unlocks and locks it, and says what it saw.

usage: sesame_client.py TRANSPORT KEYFILE [--mtu N]
       TRANSPORT is Bumble's: tcp-client:127.0.0.1:6402, unix:/path, …

Each step says PASS or FAIL; the exit status is 0 when all passed.
"""

import argparse
import asyncio
import struct
import sys
import time

sys.dont_write_bytecode = True
from bumble.core import UUID, AdvertisingData
from bumble.device import Device, Peer
from bumble.hci import Address
from bumble.transport import open_transport

import sesame

OWN = "C6:05:04:03:02:01"
START = time.monotonic()
TAG = b"\x06Bumble"


class Failed(Exception):
    pass


def passed(what):
    print("%8.1f ms PASS %s" % ((time.monotonic() - START) * 1e3, what), flush=True)


async def within(seconds, what, awaitable):
    """The result, or Failed when it does not come in time."""
    try:
        return await asyncio.wait_for(awaitable, seconds)
    except asyncio.TimeoutError:
        raise Failed(what + ": nothing within %g s" % seconds) from None


class Session:
    """Messages to and from a lock whose notifications are on."""

    def __init__(self, write):
        self.write = write
        self.cipher = None
        self.frames = sesame.Reassembler()
        self.messages = asyncio.Queue()
        self.flags = None

    def notified(self, frame):
        if len(frame) > 20:
            raise Failed("a frame of %d octets" % len(frame))
        whole = self.frames.push(bytes(frame))
        if whole is not None:
            self.messages.put_nowait(whole)

    async def send(self, message):
        sealed = self.cipher.encrypt(message) if self.cipher else message
        for frame in sesame.frames(sealed, self.cipher is not None):
            await self.write.write_value(frame, with_response=False)

    async def next(self):
        message, encrypted = await self.messages.get()
        if encrypted != (self.cipher is not None):
            raise Failed("a message %s: %s" % ("encrypted" if encrypted else "in clear", message.hex()))
        if encrypted:
            message = self.cipher.decrypt(message)
        if message[:2] == bytes([sesame.PUBLISH, sesame.STATUS]):
            _, target, angle, self.flags = struct.unpack("<HhhB", message[2:9])
            print("            target %d, angle %d, flags %#04x" % (target, angle, self.flags), flush=True)
        return message

    async def until(self, what, wanted, seconds=5):
        """The first message that `wanted` accepts."""

        async def search():
            while True:
                message = await self.next()
                if wanted(message):
                    return message

        message = await within(seconds, what, search())
        passed(what)
        return message

    async def answer(self, item, what):
        prefix = bytes([sesame.RESPONSE, item])
        message = await self.until(what, lambda m: m[:2] == prefix)
        if message[2] != sesame.SUCCESS:
            raise Failed("%s: result %d" % (what, message[2]))
        return message[3:]

    async def rest(self, what, bit):
        """Waits until the bolt rests in the range of this flag."""
        await self.until(
            what,
            lambda m: m[:2] == bytes([sesame.PUBLISH, sesame.STATUS])
            and m[4:6] == struct.pack("<h", sesame.NO_ANGLE)
            and self.flags & bit,
        )


async def find(device, key):
    """The address that advertises as this lock."""
    found = asyncio.get_running_loop().create_future()

    def heard(advertisement):
        manufacturer = advertisement.data.get(AdvertisingData.Type.MANUFACTURER_SPECIFIC_DATA)
        if found.done() or not manufacturer or manufacturer[0] != sesame.COMPANY:
            return
        model, status, identity = struct.unpack("<HB", manufacturer[1][:3]) + (manufacturer[1][3:],)
        if identity == key.identity.bytes and model == sesame.MODELS[key.model]:
            found.set_result((advertisement.address, status))

    device.on("advertisement", heard)
    await device.start_scanning(active=True)
    address, status = await within(15, "the advertisement", found)
    await device.stop_scanning()
    passed("advertised by %s" % address)
    if not status & 1:
        raise Failed("it advertises as unregistered")
    if bytes(address) != sesame.address(key.identity):
        raise Failed("the address is not the one that belongs to the device's id")
    return address


async def discover(peer):
    """The two characteristics of the lock's service."""
    services = await peer.discover_service(UUID(sesame.SERVICE))
    if not services:
        raise Failed("no service FD81")
    await services[0].discover_characteristics()
    characteristics = {str(c.uuid): c for c in services[0].characteristics}
    passed("service FD81 with %d characteristics" % len(characteristics))
    return (
        next(c for c in services[0].characteristics if c.uuid == UUID(sesame.WRITE)),
        next(c for c in services[0].characteristics if c.uuid == UUID(sesame.NOTIFY)),
    )


async def exercise(device, key, options):
    address = await find(device, key)
    connection = await within(10, "the connection", device.connect(address))
    ended = asyncio.get_running_loop().create_future()
    connection.on("disconnection", lambda reason: ended.done() or ended.set_result(reason))
    passed("connected")
    peer = Peer(connection)
    if options.mtu:
        passed("ATT MTU %d" % await within(5, "the MTU", peer.request_mtu(options.mtu)))
    write, notify = await within(10, "the discovery", discover(peer))

    session = Session(write)
    await within(5, "the subscription", notify.subscribe(session.notified))
    initial = await session.until("token", lambda m: m[:2] == bytes([sesame.PUBLISH, sesame.INITIAL]))
    cipher = sesame.Cipher(key.secret, initial[2:])
    await session.send(bytes([sesame.LOGIN]) + cipher.proof)
    session.cipher = cipher
    clock = await session.answer(sesame.LOGIN, "login")
    print("            the lock's clock", struct.unpack("<I", clock)[0])
    await session.rest("locked at first", 0x02)
    for item, name, bit in [
        (sesame.UNLOCK, "unlock", 0x04),
        (sesame.LOCK, "lock", 0x02),
        (sesame.UNLOCK, "unlock again", 0x04),
        (sesame.LOCK, "lock again", 0x02),
    ]:
        await session.send(bytes([item]) + TAG)
        await session.answer(item, name)
        await session.rest("at rest after " + name, bit)
    await session.send(bytes([sesame.VERSION]))
    version = await session.answer(sesame.VERSION, "version")
    print("            version", version)

    await connection.disconnect()
    passed("disconnected %#04x" % await within(5, "the disconnection", ended))


async def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("transport", metavar="TRANSPORT")
    parser.add_argument("keyfile", metavar="KEYFILE")
    parser.add_argument("--mtu", type=int, help="asks for this ATT MTU")
    options = parser.parse_args()
    try:
        async with await open_transport(options.transport) as (source, sink):
            device = Device.with_hci("client", Address(OWN), source, sink)
            await within(10, "the controller", device.power_on())
            await exercise(device, sesame.Key.read(options.keyfile), options)
    except Failed as failure:
        print("FAIL", failure, flush=True)
        return 1
    print("OK")
    return 0


sys.exit(asyncio.run(main()))
