#!/usr/bin/env python3
"""A Sesame 3, 4 or 5 as a Bumble host: a peripheral with its service, its protocol and a bolt that takes its time.

usage: sesame_lock.py TRANSPORT KEYFILE [--seconds N] [--turn SECONDS] [--fault NAME]… [--habit NAME]…
       TRANSPORT is Bumble's: tcp-client:127.0.0.1:6402, tcp-server:…, unix:/path, …
       bumble:PORT serves a Bumble controller on that port, with the lock on the same virtual air
       sesame_lock.py --list tells the faults and habits that it can have

It prints "ready" once it advertises, and a line for all that happens to it.
"""

import argparse
import asyncio
import os
import socket
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

import oddities
import sesame
import virtual
from generations import GENERATIONS
from sessions import SESSIONS

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


class History:
    """The latest records, oldest first; the numbers go on whatever is deleted."""

    def __init__(self):
        self.records, self.number = [], 0

    def add(self, make):
        """Adds the record that is made of the next number."""
        self.number += 1
        self.records = [*self.records[1 - MOST_RECORDS :], (self.number, make(self.number))]

    def oldest(self):
        return self.records[0][1] if self.records else None

    def delete(self, number):
        """Whether there was a record of this number."""
        count = len(self.records)
        self.records = [record for record in self.records if record[0] != number]
        return len(self.records) < count


class Lock:
    def __init__(self, key, turn, odd):
        self.key, self.secret = key, key.secret
        self.er = key.er or os.urandom(16)
        self.generation = GENERATIONS[key.model]
        self.private = self.generation.private(self.er)
        self.positions = sesame.FACTORY_POSITIONS if key.secret else None
        self.autolock = 0
        self.ahead = 0.0
        self.bolt = Bolt(turn)
        self.moving = self.autolocking = None
        self.is_unlocking = False
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
        return int(time.time() + self.ahead) & 0xFFFFFFFF

    def set_clock(self, octets):
        ahead = struct.unpack("<I", octets)[0] - time.time()
        if ahead < self.ahead - 1 and self.first("set_back"):
            return
        self.ahead = ahead

    def record(self, kind, tag=None):
        seconds, status = self.filtered("dated", time.time() + self.ahead), self.status()
        self.is_unlocking = kind == sesame.UNLOCKED_BY_CLIENT
        for _ in range(min([oddity.copies(tag) for oddity in self.oddities if oddity.copies(tag) != 1] or [1])):
            self.history.add(lambda number: self.generation.record(number, kind, max(0, seconds), status, tag))
            self.tell("added", self.history)

    def setting(self):
        return self.generation.setting(self.positions, self.autolock)

    def is_in_range(self, position):
        """Whether the bolt is by a position; on the way only that of the goal counts."""
        return abs(self.bolt.angle() - position) < self.generation.REACH and (
            not self.moving or self.bolt.goal == position
        )

    def status(self):
        target = self.bolt.goal if self.moving else None
        places = [self.is_in_range(position) for position in self.positions or ()] or [False, False]
        return self.generation.status(target, self.bolt.angle(), *places)

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
        in_range = self.bolt.turn * self.generation.REACH / QUARTER * 0.9
        if seconds > in_range:
            await asyncio.sleep(seconds - in_range)
            self.publish_status()
            seconds = in_range
        await asyncio.sleep(seconds)
        self.come_to_rest()

    def come_to_rest(self):
        self.moving = None
        self.say("at rest", round(self.bolt.angle()))
        self.tell("rested")
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
        if self.is_in_range(self.positions[1]) and not self.is_in_range(self.positions[0]):
            self.autolocking = asyncio.get_running_loop().call_later(
                self.filtered("autolocks_in", self.autolock), self.lock_itself
            )

    def lock_itself(self):
        self.autolocking = None
        self.record(sesame.AUTOLOCKED)
        self.drive("locked")

    def forget(self):
        """Carries a reset out, and restarts."""
        former = self.secret, self.positions, self.autolock
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
        # A connection that is made meanwhile stays.
        leaving = list(self.sessions)
        asyncio.get_running_loop().call_later(
            0.5, lambda: [self.hang_up(connection) for connection in leaving]
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
            self.sessions[connection] = SESSIONS[self.key.model](self, connection)

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
        await asyncio.sleep(self.filtered("silent_for", 0))
        model, identity = sesame.MODELS[self.key.model], self.key.identity
        self.device.advertising_data = sesame.advertisement(
            model, self.secret is not None, identity, model in (5, 7) and self.history.oldest() is not None
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


def hasten(source, sink):
    """Acknowledges at once what comes over TCP: rootcanal sends header and body of a packet apart, and waits for that in
    between. A lock's own controller is not 44 ms away."""
    connection = getattr(sink, "transport", None)
    connection = connection and connection.get_extra_info("socket")
    if connection is None or connection.family == socket.AF_UNIX:
        return
    receive = source.data_received

    def received(data):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        receive(data)

    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
    source.data_received = received


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
            hasten(source, sink)
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
