#!/usr/bin/env python3
"""A Sesame 5 as a Bumble host: a peripheral with the lock's service, its protocol and a bolt that takes its time.

usage: sesame_lock.py TRANSPORT KEYFILE [--seconds N] [--turn SECONDS]
       TRANSPORT is Bumble's: tcp-client:127.0.0.1:6402, tcp-server:…, unix:/path, …
       bumble:PORT serves a Bumble controller on that port, with the lock on the same virtual air

It prints "ready" once it advertises, and a line for all that happens to it.
"""

import argparse
import asyncio
import os
import struct
import sys
import time

sys.dont_write_bytecode = True
from bumble.core import AdvertisingData
from bumble.device import Device
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.hci import Address, OwnAddressType
from bumble.host import Host
from bumble.transport import open_transport
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec

import sesame
import virtual

LOCKED, UNLOCKED = 0, 90  # degrees
RANGE = 30
REMOTE_USER_TERMINATED = 0x13


class Bolt:
    """Where the bolt is, by the clock; a quarter turn takes `turn` seconds."""

    def __init__(self, turn):
        self.turn = turn
        self.start = self.goal = float(LOCKED)
        self.since = 0.0

    def angle(self):
        way = self.goal - self.start
        if way == 0:
            return self.goal
        part = (time.monotonic() - self.since) / (self.turn * abs(way) / abs(UNLOCKED - LOCKED))
        return self.start + way * min(1.0, part)

    def drive(self, goal):
        """Starts the motor; how long it will run, in seconds."""
        self.start, self.goal, self.since = self.angle(), float(goal), time.monotonic()
        return self.turn * abs(self.goal - self.start) / abs(UNLOCKED - LOCKED)

    def status(self, moving):
        """The seven octets of a mechanical status."""
        angle = round(self.angle())
        flags = 0 if moving else 0x10
        if abs(angle - LOCKED) < RANGE and not (moving and self.goal != LOCKED):
            flags |= 0x02
        if abs(angle - UNLOCKED) < RANGE and not (moving and self.goal != UNLOCKED):
            flags |= 0x04
        target = round(self.goal) if moving else sesame.NO_ANGLE
        return struct.pack("<HhhB", 3000, target, angle, flags)


class Session:
    """One connection that turned notifications on."""

    def __init__(self, lock, connection):
        self.lock, self.connection = lock, connection
        self.token = os.urandom(4)
        self.cipher = None
        self.frames = sesame.Reassembler()
        self.send(bytes([sesame.PUBLISH, sesame.INITIAL]) + self.token)

    def send(self, message):
        """Queues a message, encrypted once the session is open."""
        sealed = self.cipher.encrypt(message) if self.cipher else message
        for frame in sesame.frames(sealed, self.cipher is not None):
            self.lock.outgoing.put_nowait((self.connection, frame))

    def respond(self, item, result, data=b""):
        self.send(bytes([sesame.RESPONSE, item, result]) + data)

    def receive(self, frame):
        whole = self.frames.push(frame)
        if whole is None:
            return
        message, encrypted = whole
        if encrypted != (self.cipher is not None):
            return  # before a session only what opens one counts, in a session only ciphertext
        if encrypted:
            try:
                message = self.cipher.decrypt(message)
            except (InvalidTag, ValueError):
                self.lock.say("a message that does not authenticate")
                return
        if not message:
            return
        if self.cipher is None:
            self.open(message)
        else:
            self.command(message[0], message[1:])

    def open(self, message):
        item, data = message[0], message[1:]
        if item == sesame.LOGIN:
            cipher = self.lock.secret and sesame.Cipher(self.lock.secret, self.token)
            if not cipher or data != cipher.proof:
                self.lock.say("login refused")
                self.lock.hang_up(self.connection)
                return
            self.cipher = cipher
            self.respond(sesame.LOGIN, sesame.SUCCESS, struct.pack("<I", self.lock.clock()))
            self.publish(sesame.SETTING, self.lock.setting())
            self.publish(sesame.STATUS, self.lock.status())
            self.lock.say("logged in")
        elif item == sesame.REGISTRATION and self.lock.secret:
            self.respond(sesame.REGISTRATION, sesame.INVALID_ACTION)
        elif item == sesame.REGISTRATION and len(data) == 68:
            self.respond(
                sesame.REGISTRATION,
                sesame.SUCCESS,
                self.lock.status() + self.lock.setting() + sesame.public_octets(self.lock.private),
            )
            self.lock.secret = sesame.device_secret(self.lock.private, data[:64])
            self.cipher = sesame.Cipher(self.lock.secret, self.token)
            self.lock.say("registered")

    def publish(self, item, data):
        self.send(bytes([sesame.PUBLISH, item]) + data)

    def command(self, item, data):
        lock = self.lock
        if item in (sesame.LOCK, sesame.UNLOCK):
            lock.say("lock" if item == sesame.LOCK else "unlock")
            if lock.positions is None:
                self.respond(item, sesame.INVALID_ACTION)
                return
            self.respond(item, sesame.SUCCESS)
            lock.drive(LOCKED if item == sesame.LOCK else UNLOCKED)
        elif item == sesame.SETTING and len(data) == 4:
            lock.positions = struct.unpack("<hh", data)
            self.respond(item, sesame.SUCCESS)
            self.publish(sesame.SETTING, lock.setting())
            self.publish(sesame.STATUS, lock.status())
        elif item == sesame.AUTOLOCK and len(data) == 2:
            lock.autolock = struct.unpack("<h", data)[0]
            self.respond(item, sesame.SUCCESS)
            self.publish(sesame.SETTING, lock.setting())
        elif item == sesame.TIME and len(data) == 4:
            lock.ahead = struct.unpack("<I", data)[0] - time.time()
            self.respond(item, sesame.SUCCESS)
        elif item == sesame.VERSION:
            self.respond(item, sesame.SUCCESS, b"3.0-5-bumble")
        elif item == sesame.HISTORY:
            self.respond(item, sesame.NOT_FOUND)
        elif item == sesame.HISTORY_DELETE and len(data) == 4:
            self.respond(item, sesame.SUCCESS)
        elif item == sesame.RESET:
            lock.say("reset")
            self.respond(item, sesame.SUCCESS)
            lock.forget()
        elif item in (sesame.SETTING, sesame.AUTOLOCK, sesame.TIME, sesame.HISTORY_DELETE):
            self.respond(item, sesame.INVALID_FORMAT)
        else:
            self.respond(item, sesame.NOT_SUPPORTED)


class Lock:
    def __init__(self, key, turn):
        self.key, self.secret = key, key.secret
        self.private = ec.generate_private_key(ec.SECP256R1())
        self.positions = (LOCKED, UNLOCKED) if key.secret else None
        self.autolock = 0
        self.ahead = 0.0
        self.bolt = Bolt(turn)
        self.moving = None
        self.sessions = {}
        self.outgoing = asyncio.Queue()
        self.device = self.notifying = None

    @staticmethod
    def say(*words):
        print(*words, flush=True)

    def clock(self):
        return int(time.time() + self.ahead)

    def setting(self):
        lock, unlock = self.positions or (sesame.NO_ANGLE, sesame.NO_ANGLE)
        return struct.pack("<hhh", lock, unlock, self.autolock)

    def status(self):
        return self.bolt.status(self.moving is not None)

    def publish_status(self):
        for session in self.sessions.values():
            if session.cipher:
                session.publish(sesame.STATUS, self.status())

    def drive(self, goal):
        if self.moving:
            if self.bolt.goal == goal:
                return
            self.moving.cancel()
        elif self.bolt.angle() == goal:
            self.publish_status()
            return
        self.moving = asyncio.create_task(self.turn(self.bolt.drive(goal)))

    async def turn(self, seconds):
        """Publishes the start, the coming into the range of the goal, and the rest."""
        self.publish_status()
        in_range = self.bolt.turn * RANGE / abs(UNLOCKED - LOCKED) * 0.9
        if seconds > in_range:
            await asyncio.sleep(seconds - in_range)
            self.publish_status()
            seconds = in_range
        await asyncio.sleep(seconds)
        self.moving = None
        self.say("at rest", round(self.bolt.angle()))
        self.publish_status()

    def forget(self):
        self.secret, self.positions, self.autolock = None, None, 0
        asyncio.get_running_loop().call_later(
            0.5, lambda: [self.hang_up(connection) for connection in list(self.sessions)]
        )

    def hang_up(self, connection):
        async def disconnect():
            while not self.outgoing.empty():
                await asyncio.sleep(0.05)
            await connection.disconnect(REMOTE_USER_TERMINATED)

        asyncio.create_task(disconnect())

    async def deliver(self):
        while True:
            connection, frame = await self.outgoing.get()
            await self.device.notify_subscriber(connection, self.notifying, frame)

    def written(self, connection, value):
        if connection in self.sessions:
            self.sessions[connection].receive(bytes(value))

    def subscribed(self, connection, notify):
        if notify and connection not in self.sessions:
            self.sessions[connection] = Session(self, connection)

    def connected(self, connection):
        self.say("connected by", connection.peer_address)
        connection.on("disconnection", lambda reason: self.disconnected(connection, reason))

    def disconnected(self, connection, reason):
        self.say("disconnected", hex(reason))
        self.sessions.pop(connection, None)
        asyncio.create_task(self.advertise())

    async def advertise(self):
        model = sesame.MODELS[self.key.model]
        self.device.advertising_data = sesame.advertisement(model, self.secret is not None, self.key.identity)
        self.device.scan_response_data = bytes(
            AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, sesame.short_name(self.key.identity))])
        )
        await self.device.start_advertising(own_address_type=OwnAddressType.RANDOM)

    async def install(self, device):
        """Puts the lock's service on the device and begins to advertise."""
        self.device = device
        write = Characteristic(
            sesame.WRITE,
            Characteristic.Properties.WRITE | Characteristic.Properties.WRITE_WITHOUT_RESPONSE,
            Characteristic.WRITEABLE,
            CharacteristicValue(write=self.written),
        )
        self.notifying = Characteristic(sesame.NOTIFY, Characteristic.Properties.NOTIFY, 0, b"")
        self.notifying.on(
            "subscription", lambda connection, notify, indicate: self.subscribed(connection, notify)
        )
        device.add_service(Service(sesame.SERVICE, [write, self.notifying]))
        device.on("connection", self.connected)
        await device.power_on()
        self.delivery = asyncio.create_task(self.deliver())
        await self.advertise()
        self.say("ready", device.random_address)


async def serve(options):
    key = sesame.Key.read(options.keyfile)
    lock = Lock(key, options.turn)
    own = Address(sesame.address(key.identity), Address.RANDOM_DEVICE_ADDRESS)
    if options.transport.startswith("bumble:"):
        air, server = await virtual.serve(int(options.transport.removeprefix("bumble:")), options.legacy)
        inside = virtual.controller("lock", air, 2)
        await lock.install(Device(name="Sesame", address=own, host=Host(inside, inside)))
        await asyncio.get_running_loop().create_future()
    else:
        async with await open_transport(options.transport) as (source, sink):
            await lock.install(Device.with_hci("Sesame", own, source, sink))
            await source.wait_for_termination()


async def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("transport", metavar="TRANSPORT")
    parser.add_argument("keyfile", metavar="KEYFILE")
    parser.add_argument("--seconds", type=float, default=120, help="ends after so long (120)")
    parser.add_argument("--turn", type=float, default=1, help="how long a quarter turn takes (1)")
    parser.add_argument(
        "--legacy", action="store_true", help="bumble: a controller without extended advertising"
    )
    options = parser.parse_args()
    try:
        await asyncio.wait_for(serve(options), options.seconds)
    except asyncio.TimeoutError:
        pass


asyncio.run(main())
