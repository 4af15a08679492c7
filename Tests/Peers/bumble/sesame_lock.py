#!/usr/bin/env python3
"""A Sesame 5 as a Bumble host: a peripheral with the lock's service, its protocol and a bolt that takes its time.

usage: sesame_lock.py TRANSPORT KEYFILE [--seconds N] [--turn SECONDS] [--fault NAME]… [--habit NAME]…
       TRANSPORT is Bumble's: tcp-client:127.0.0.1:6402, tcp-server:…, unix:/path, …
       bumble:PORT serves a Bumble controller on that port, with the lock on the same virtual air
       sesame_lock.py --list tells the faults and habits that it can have

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

import oddities
import sesame
import virtual

RANGE = 30  # degrees to either side of a position
QUARTER = 90  # degrees
REMOTE_USER_TERMINATED = 0x13
MOST_RECORDS = 100


class Bolt:
    """Where the bolt is, by the clock; a quarter turn takes `turn` seconds."""

    def __init__(self, turn):
        self.turn = turn
        self.start = self.goal = 0.0
        self.since = 0.0

    def angle(self):
        way = self.goal - self.start
        if way == 0:
            return self.goal
        part = (time.monotonic() - self.since) / (self.turn * abs(way) / QUARTER)
        return self.start + way * min(1.0, part)

    def drive(self, goal):
        """Starts the motor; how long it will run, in seconds."""
        self.start, self.goal, self.since = self.angle(), float(goal), time.monotonic()
        return self.turn * abs(self.goal - self.start) / QUARTER

    def stop(self):
        self.start = self.goal = self.angle()

    def status(self, positions, moving):
        """The seven octets of a mechanical status; on the way only the range of the goal counts."""
        angle = self.angle()
        flags = 0 if moving else 0x10
        for position, flag in zip(positions or (), (0x02, 0x04)):
            if abs(angle - position) < RANGE and not (moving and self.goal != position):
                flags |= flag
        target = round(self.goal) if moving else sesame.NO_ANGLE
        return struct.pack("<HhhB", 3000, target, round(angle), flags)


class History:
    """The latest records, oldest first; the numbers go on whatever is deleted."""

    def __init__(self):
        self.records, self.number = [], 0

    def add(self, kind, seconds, status, tag=b""):
        self.number += 1
        self.records = self.records[1 - MOST_RECORDS :]
        self.records.append((self.number, struct.pack("<IBI", self.number, kind, seconds) + status + tag))

    def oldest(self):
        return self.records[0][1] if self.records else None

    def delete(self, number):
        """Whether there was a record of this number."""
        count = len(self.records)
        self.records = [record for record in self.records if record[0] != number]
        return len(self.records) < count


class Session:
    """One connection that turned notifications on."""

    def __init__(self, lock, connection):
        self.lock, self.connection = lock, connection
        self.cipher = None
        self.is_logged_in = False
        self.has_registered = False
        self.frames = sesame.Reassembler()
        self.token = lock.filtered("token", os.urandom(4))
        if self.token is not None:
            lock.tell("opening", self)
            self.tell_token()
            lock.tell("opened", self)

    def tell_token(self):
        self.transmit(bytes([sesame.PUBLISH, sesame.INITIAL]) + self.token, False)

    def notify(self, frame, hold=0):
        """Queues a frame, behind all that was queued before."""
        self.lock.outgoing.put_nowait((self.connection, frame, time.monotonic() + hold))

    def transmit(self, message, encrypted, hold=0):
        """Queues a message as it is."""
        for frame in self.lock.filtered("cut", sesame.frames(message, encrypted)):
            self.notify(frame, hold)

    def send(self, message, hold=0):
        """Queues a message, encrypted once the session is open."""
        self.transmit(self.cipher.encrypt(message) if self.cipher else message, self.cipher is not None, hold)

    def respond(self, item, result, data=b""):
        answer = (item, result, data)
        for oddity in self.lock.oddities:
            answer = answer and oddity.answer(*answer)
        if answer:
            hold = max((oddity.hold(item) for oddity in self.lock.oddities), default=0)
            self.send(bytes([sesame.RESPONSE, *answer[:2]]) + answer[2], hold)

    def publish(self, item, data):
        publishes = [(item, data)]
        for oddity in self.lock.oddities:
            publishes = [said for one in publishes for said in oddity.publishes(self, *one)]
        for said in publishes:
            self.send(bytes([sesame.PUBLISH, said[0]]) + said[1])

    def receive(self, frame):
        whole = self.frames.push(frame)
        if whole is None or self.token is None:
            return
        message, encrypted = whole
        if encrypted and self.cipher:
            message = self.unsealed(message)
            if message:
                self.command(message[0], message[1:])
        elif message and not encrypted:
            self.clear(message)

    def unsealed(self, sealed):
        """What a message says, or None."""
        try:
            return self.cipher.decrypt(sealed)
        except (InvalidTag, ValueError):
            message = self.lock.first("unsealed", self, sealed)
            self.lock.say("a message that does not authenticate" + (", obeyed" if message else ""))
            return message

    def clear(self, message):
        """A message in clear: only what opens a session counts. Who has registered may log in as well."""
        if self.cipher and not (self.has_registered and message[0] == sesame.LOGIN):
            self.lock.first("clear", self, message)
        elif message[0] == sesame.LOGIN:
            self.log_in(message[1:])
        elif message[0] == sesame.REGISTRATION:
            self.register(message[1:])
        else:
            self.lock.first("clear", self, message)

    def log_in(self, proof):
        lock = self.lock
        cipher = self.proved(proof)
        if not cipher:
            lock.say("login refused")
            lock.hang_up(self.connection)
            return
        self.begin(cipher)
        self.has_registered = False
        self.respond(sesame.LOGIN, sesame.SUCCESS, struct.pack("<I", lock.clock()))
        self.publish(sesame.SETTING, lock.setting())
        self.publish(sesame.STATUS, lock.status())
        self.is_logged_in = True
        lock.say("logged in")
        lock.tell("logged_in", self)

    def proved(self, proof):
        """The cipher of the session that a proof opens, or None."""
        others = [secret for oddity in self.lock.oddities for secret in oddity.other_secrets()]
        for secret in [self.lock.secret, *others]:
            cipher = secret and sesame.Cipher(secret, self.token)
            if cipher and cipher.proof == proof:
                return cipher
        if self.lock.secret and self.lock.first("accepts", self, proof):
            return sesame.Cipher(self.lock.secret, self.token)
        return None

    def begin(self, cipher):
        self.cipher = cipher
        self.lock.tell("began", self)

    def register(self, data):
        lock = self.lock
        if lock.secret:
            self.respond(sesame.REGISTRATION, sesame.INVALID_ACTION)
            return
        try:
            secret = sesame.device_secret(lock.private, data[:64]) if len(data) in (64, 68) else None
        except ValueError:  # no point of the curve
            secret = None
        if not secret:
            self.respond(sesame.REGISTRATION, sesame.INVALID_FORMAT)
            return
        if len(data) == 68:
            lock.set_clock(data[64:])
        keys = sesame.public_octets(lock.private)
        self.respond(sesame.REGISTRATION, sesame.SUCCESS, lock.status() + lock.setting() + keys)
        lock.secret = secret
        self.begin(sesame.Cipher(secret, self.token))
        self.is_logged_in = self.has_registered = True
        lock.say("registered")
        lock.tell("registered", self)

    def command(self, item, data):
        lock = self.lock
        if any(oddity.requested(self, item, data) for oddity in lock.oddities):
            return
        if item in (sesame.LOCK, sesame.UNLOCK):
            self.work(item, data)
        elif item in REQUESTS:
            size, carry_out = REQUESTS[item]
            if len(data) == size:
                carry_out(self, data)
            else:
                self.respond(item, sesame.INVALID_FORMAT)
        elif item != sesame.STATUS:  # which cannot be asked for
            self.respond(item, sesame.NOT_SUPPORTED)

    def work(self, item, tag):
        lock = self.lock
        if not sesame.is_tag(tag):
            self.respond(item, sesame.INVALID_FORMAT)
        elif lock.positions is None:
            self.respond(item, sesame.INVALID_ACTION)
        else:
            lock.say("lock" if item == sesame.LOCK else "unlock")
            self.respond(item, sesame.SUCCESS)
            lock.tell("worked", self, item)
            kind = sesame.LOCKED_BY_CLIENT if item == sesame.LOCK else sesame.UNLOCKED_BY_CLIENT
            lock.record(kind, lock.filtered("recorded", tag))
            lock.drive("locked" if item == sesame.LOCK else "unlocked")

    def set_positions(self, data):
        positions = struct.unpack("<hh", data)
        if positions[0] == positions[1] or sesame.NO_ANGLE in positions:
            self.respond(sesame.SETTING, sesame.INVALID_PARAMETER)
            return
        self.lock.positions = positions
        self.respond(sesame.SETTING, sesame.SUCCESS)
        self.lock.record(sesame.POSITIONS_SET)
        self.lock.count_autolock()
        self.publish(sesame.SETTING, self.lock.setting())
        self.publish(sesame.STATUS, self.lock.status())

    def set_autolock(self, data):
        (seconds,) = struct.unpack("<h", data)
        if seconds < 0:
            self.respond(sesame.AUTOLOCK, sesame.INVALID_PARAMETER)
            return
        self.lock.autolock = seconds
        self.respond(sesame.AUTOLOCK, sesame.SUCCESS)
        self.lock.record(sesame.AUTOLOCK_SET)
        self.lock.count_autolock()
        self.publish(sesame.SETTING, self.lock.setting())

    def set_time(self, data):
        self.lock.set_clock(data)
        self.respond(sesame.TIME, sesame.SUCCESS)
        self.lock.record(sesame.TIME_SET)

    def tell_version(self, _):
        self.respond(sesame.VERSION, sesame.SUCCESS, b"3.0-5-bumble")

    def read_history(self, data):
        """Tells the oldest record; 0 deletes it as well."""
        record = self.lock.history.oldest()
        self.respond(sesame.HISTORY, sesame.SUCCESS if record else sesame.NOT_FOUND, record or b"")
        if record and data == b"\0":
            self.lock.history.delete(int.from_bytes(record[:4], "little"))

    def delete_history(self, data):
        is_there = self.lock.history.delete(int.from_bytes(data, "little"))
        self.respond(sesame.HISTORY_DELETE, sesame.SUCCESS if is_there else sesame.NOT_FOUND)

    def reset(self, _):
        self.lock.say("reset")
        self.respond(sesame.RESET, sesame.SUCCESS)
        self.lock.forget()


# What a client may ask for in a session, beside lock and unlock: how many octets of data it has, and what is done.
REQUESTS = {
    sesame.SETTING: (4, Session.set_positions),
    sesame.AUTOLOCK: (2, Session.set_autolock),
    sesame.TIME: (4, Session.set_time),
    sesame.VERSION: (0, Session.tell_version),
    sesame.HISTORY: (1, Session.read_history),
    sesame.HISTORY_DELETE: (4, Session.delete_history),
    sesame.RESET: (0, Session.reset),
}


class Lock:
    def __init__(self, key, turn, odd):
        self.key, self.secret = key, key.secret
        self.private = ec.generate_private_key(ec.SECP256R1())
        self.positions = sesame.FACTORY_POSITIONS if key.secret else None
        self.autolock = 0
        self.ahead = 0.0
        self.bolt = Bolt(turn)
        self.moving = self.autolocking = None
        self.history = History()
        self.sessions = {}
        self.outgoing = asyncio.Queue()
        self.device = self.notifying = self.connection = None
        self.oddities = [oddity(self) for oddity in odd]

    @staticmethod
    def say(*words):
        print(*words, flush=True)

    # What oddities are asked.

    def tell(self, moment, *arguments):
        for oddity in self.oddities:
            getattr(oddity, moment)(*arguments)

    def filtered(self, moment, value):
        """A value as each oddity in turn leaves it."""
        for oddity in self.oddities:
            value = getattr(oddity, moment)(value)
        return value

    def first(self, moment, *arguments):
        """The first answer that is one."""
        return next(filter(None, (getattr(oddity, moment)(*arguments) for oddity in self.oddities)), None)

    # What it knows.

    def clock(self):
        return int(time.time() + self.ahead)

    def set_clock(self, octets):
        self.ahead = struct.unpack("<I", octets)[0] - time.time()

    def record(self, kind, tag=b""):
        self.history.add(kind, self.clock(), self.status(), tag)

    def setting(self):
        lock, unlock = self.positions or (sesame.NO_ANGLE, sesame.NO_ANGLE)
        return struct.pack("<hhh", lock, unlock, self.autolock)

    def status(self):
        return self.bolt.status(self.positions, self.moving is not None)

    def publish_status(self):
        for session in self.sessions.values():
            if session.is_logged_in:
                session.publish(sesame.STATUS, self.status())

    # What it does.

    def drive(self, name):
        """Starts the motor or turns it round, unless the bolt is there or on its way."""
        if not all([oddity.obeys(name) for oddity in self.oddities]):
            return
        goal = self.positions[name == "unlocked"]
        if self.moving:
            if self.bolt.goal == goal:
                return
            self.moving.cancel()
        elif self.bolt.angle() == goal:
            self.publish_status()
            return
        self.stop_autolock()
        self.say("motor", name)
        seconds = self.bolt.drive(goal)
        self.moving = asyncio.create_task(self.turn(seconds))
        self.tell("turning", seconds)

    async def turn(self, seconds):
        """Publishes the start, the coming into the range of the goal, and the rest."""
        self.publish_status()
        in_range = self.bolt.turn * RANGE / QUARTER * 0.9
        if seconds > in_range:
            await asyncio.sleep(seconds - in_range)
            self.publish_status()
            seconds = in_range
        await asyncio.sleep(seconds)
        self.moving = None
        self.say("at rest", round(self.bolt.angle()))
        self.count_autolock()
        self.publish_status()

    def stop_autolock(self):
        if self.autolocking:
            self.autolocking.cancel()
            self.autolocking = None

    def count_autolock(self):
        """Counts from now until the lock locks itself, if it rests unlocked and is to."""
        self.stop_autolock()
        if not self.autolock or not self.positions or self.moving:
            return
        if abs(self.bolt.angle() - self.positions[1]) < RANGE:
            self.autolocking = asyncio.get_running_loop().call_later(self.autolock, self.lock_itself)

    def lock_itself(self):
        self.autolocking = None
        self.record(sesame.AUTOLOCKED)
        self.drive("locked")

    def forget(self):
        """Carries a reset out, and restarts."""
        former = self.secret, self.positions
        self.stop_autolock()
        if self.moving:
            self.moving.cancel()
            self.moving = None
        self.bolt.stop()
        self.secret, self.positions, self.autolock = None, None, 0
        self.history = History()
        for session in self.sessions.values():
            session.is_logged_in = False
        self.tell("forgot", *former)
        asyncio.get_running_loop().call_later(
            0.5, lambda: [self.hang_up(connection) for connection in list(self.sessions)]
        )

    # The air.

    def hang_up(self, connection):
        async def disconnect():
            await self.outgoing.join()
            if self.connection is connection:
                await connection.disconnect(REMOTE_USER_TERMINATED)

        self.leaving = asyncio.create_task(disconnect())

    async def deliver(self):
        while True:
            connection, frame, due = await self.outgoing.get()
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            if connection in self.sessions:
                await self.device.notify_subscriber(connection, self.notifying, frame)
            self.outgoing.task_done()

    def written(self, connection, value):
        if connection in self.sessions:
            self.sessions[connection].receive(bytes(value))

    def subscribed(self, connection, notify):
        if notify and connection not in self.sessions:
            self.sessions[connection] = Session(self, connection)

    def connected(self, connection):
        self.say("connected by", connection.peer_address)
        self.connection = connection
        connection.on("disconnection", lambda reason: self.disconnected(connection, reason))
        self.tell("connected", connection)

    def disconnected(self, connection, reason):
        self.say("disconnected", hex(reason))
        self.connection = None
        self.sessions.pop(connection, None)
        self.tell("disconnected")
        self.advertising = asyncio.create_task(self.advertise())

    async def advertise(self):
        model, identity = sesame.MODELS[self.key.model], self.key.identity
        self.device.advertising_data = sesame.advertisement(
            model, self.secret is not None, identity, self.history.oldest() is not None
        )
        self.device.scan_response_data = bytes(
            AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, sesame.short_name(identity))])
        )
        interval = self.filtered("advertises_every", 500)
        await self.device.start_advertising(
            own_address_type=OwnAddressType.RANDOM,
            advertising_interval_min=interval,
            advertising_interval_max=interval,
        )

    async def install(self, device):
        """Puts the lock's service on the device and begins to advertise."""
        self.device = device
        write = Characteristic(
            sesame.WRITE,
            Characteristic.Properties.WRITE | Characteristic.Properties.WRITE_WITHOUT_RESPONSE,
            Characteristic.WRITEABLE,
            CharacteristicValue(write=self.written),
            descriptors=[one for oddity in self.oddities for one in oddity.descriptors()],
        )
        self.notifying = Characteristic(sesame.NOTIFY, Characteristic.Properties.NOTIFY, 0, b"")
        self.notifying.on(
            "subscription", lambda connection, notify, indicate: self.subscribed(connection, notify)
        )
        for service in [one for oddity in self.oddities for one in oddity.services()]:
            device.add_service(service)
        device.add_service(Service(sesame.SERVICE, [write, self.notifying]))
        device.on("connection", self.connected)
        await device.power_on()
        self.delivery = asyncio.create_task(self.deliver())
        await self.advertise()
        self.say("ready", device.random_address)


async def serve(options):
    key = sesame.Key.read(options.keyfile)
    lock = Lock(key, options.turn, options.odd)
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


class List(argparse.Action):
    """Tells what a lock can have, and ends."""

    def __call__(self, parser, *_):
        for kind, table in (("fault", oddities.FAULTS), ("habit", oddities.HABITS)):
            for name, oddity in table.items():
                print(f"{kind}  {name:34}{oddity.__doc__.splitlines()[0]}")
        parser.exit()


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
    for kind, table in (("fault", oddities.FAULTS), ("habit", oddities.HABITS)):
        parser.add_argument(
            "--" + kind, metavar="NAME", choices=table, action="append", default=[],
            help=f"a {kind} that the lock has; may be given several times",
        )
    parser.add_argument("--list", action=List, nargs=0, help="tells the faults and habits, and ends")
    options = parser.parse_args()
    options.odd = [oddities.FAULTS[name] for name in options.fault]
    options.odd += [oddities.HABITS[name] for name in options.habit]
    try:
        await asyncio.wait_for(serve(options), options.seconds)
    except asyncio.TimeoutError:
        pass


asyncio.run(main())
