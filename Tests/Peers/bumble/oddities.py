"""What a lock does otherwise than documented: faults, which a tester must name, and habits, which he must not.

An oddity is a class with the hooks that it needs; `Oddity` has them all, and does nothing. The first line of its text
is what `sesame_lock.py --list` says of it, and its name there is that of the class in small letters: `WrongTag` is
`wrong-tag`.
"""

import asyncio
import re
import time

from bumble.gatt import Characteristic, Descriptor, Service

import sesame


class Oddity:
    """Nothing odd. The lock asks all its oddities at each of these moments, in the order of the command line."""

    def __init__(self, lock):
        self.lock = lock

    @classmethod
    def name(cls):
        return re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower()

    # What the lock is.

    def services(self):
        """Services beside the lock's own, before it."""
        return []

    def descriptors(self):
        """Descriptors of the characteristic that is written."""
        return []

    def advertises_every(self, milliseconds):
        """The time between two advertisements."""
        return milliseconds

    def silent_for(self, seconds):
        """For how long it says nothing before it advertises again."""
        return seconds

    # The way to a session.

    def connected(self, connection):
        """A client has connected."""

    def disconnected(self):
        """The connection has ended."""

    def token(self, token):
        """The token of the next connection, or None for none at all."""
        return token

    def opening(self, session):
        """Notifications were turned on; the token is next."""

    def opened(self, session):
        """The token was sent."""

    def other_secrets(self):
        """Secrets that open a session beside the owner's."""
        return []

    def accepts(self, session, proof):
        """Whether a proof that is wrong opens a session with the owner's secret all the same."""
        return False

    def began(self, session):
        """A session has its cipher, and nothing was said in it yet."""

    def logged_in(self, session):
        """The login was answered, setting and status were published."""

    def registered(self, session):
        """A registration was answered."""

    # What the lock hears.

    def ignores(self, session, item):
        """Whether a message in clear that would open a session is ignored."""
        return False

    def clear(self, session, operation, item, data):
        """Whether something was done with a message in clear that belongs into a session."""
        return False

    def unsealed(self, session, sealed):
        """What a message says that does not authenticate, or None."""
        return None

    def requested(self, session, item, data):
        """Whether a request in a session was dealt with."""
        return False

    # What the lock says.

    def answer(self, item, result, data):
        """The answer that is given, or None for none."""
        return item, result, data

    def answers_last(self, item):
        """Whether an answer comes after what is published of the request."""
        return False

    def hold(self, item):
        """For how many seconds an answer, and all that comes after it, is held."""
        return 0

    def worked(self, session, item):
        """A lock or unlock was answered, and the motor is about to start."""

    def publishes(self, session, item, data):
        """What is published in place of it: items and their data."""
        return [(item, data)]

    def cut(self, frames):
        """The frames of a message."""
        return frames

    # What the lock does.

    def obeys(self, goal):
        """Whether the motor starts."""
        return True

    def turning(self, seconds):
        """The motor runs, for so long unless it is turned round."""

    def rested(self):
        """The motor has come to rest."""

    def autolocks_in(self, seconds):
        """How long the bolt rests unlocked before the lock locks itself."""
        return seconds

    def autolock_waits(self):
        """Whether a new autolock time, but for none, leaves what is under way as it is."""
        return False

    def recorded(self, tag):
        """The tag of a command as the history keeps it."""
        return tag

    def dated(self, seconds):
        """The time of a record."""
        return seconds

    def set_back(self):
        """Whether the clock, which is to be set to an earlier time, stays as it is."""
        return False

    def added(self, history):
        """The history has one more record."""

    def copies(self, tag):
        """How many records a command leaves."""
        return 1

    def forgot(self, secret, positions, autolock):
        """A reset was carried out; this is what the lock had."""


# Faults of what it says.


class Fault(Oddity):
    """What no lock may do."""


class WrongTag(Fault):
    """With each lock and unlock it sends a message that does not authenticate."""

    def worked(self, session, item):
        session.transmit(bytes(9 + sesame.Cipher.TAG), True)


class AnswerToNothing(Fault):
    """With each lock and unlock it answers a request for its version that was never sent."""

    def worked(self, session, item):
        session.send(session.response(sesame.READ, sesame.VERSION, sesame.SUCCESS, self.lock.generation.VERSION))


class AnswerNamesAnother(Fault):
    """It answers an unlock as if it were a lock."""

    def answer(self, item, result, data):
        return (sesame.LOCK if item == sesame.UNLOCK else item), result, data


class UnlockUnanswered(Fault):
    """It obeys an unlock and does not answer it."""

    def answer(self, item, result, data):
        return None if item == sesame.UNLOCK else (item, result, data)


class PublishBeforeLogin(Fault):
    """It publishes its status in clear right after the token."""

    def opened(self, session):
        session.transmit(bytes([sesame.PUBLISH, sesame.STATUS]) + self.lock.status(), False)


class StatusInClear(Fault):
    """It publishes each status in a session a second time, in clear."""

    def publishes(self, session, item, data):
        if item == sesame.STATUS and session.cipher:
            session.transmit(bytes([sesame.PUBLISH, sesame.STATUS]) + data, False)
        return [(item, data)]


class StrayFrame(Fault):
    """With each lock and unlock it sends a last frame of a message that never began."""

    def worked(self, session, item):
        session.notify(bytes([0x04]) + bytes(9))


class StrayFramesOnConnecting(Fault):
    """Before each token it sends two last frames of messages that never began."""

    def opening(self, session):
        for _ in range(2):
            session.notify(bytes([0x04]) + bytes(9))


class ClearTextOnConnecting(Fault):
    """Before each token it publishes its status in clear."""

    def opening(self, session):
        session.transmit(bytes([sesame.PUBLISH, sesame.STATUS]) + self.lock.status(), False)


class LongFramesAfterMtu(Fault):
    """Once a larger MTU is agreed, its frames are as long as that allows."""

    def cut(self, frames):
        connection = self.lock.connection
        size = connection.att_mtu - 4 if connection else 0
        if size <= 19 or frames[-1][0] & 4 == 0:
            return frames
        return sesame.frames(b"".join(frame[1:] for frame in frames), True, size)


class UnknownKind(Fault):
    """With each lock and unlock it sends a frame of a kind that does not exist."""

    def worked(self, session, item):
        session.notify(bytes([0x07]) + bytes(9))


class UnfinishedMessage(Fault):
    """With each lock and unlock it begins a message and does not end it."""

    def worked(self, session, item):
        session.notify(bytes([0x01]) + bytes(19))


class EmptyFrame(Fault):
    """With each lock and unlock it notifies of nothing, not even a header."""

    def worked(self, session, item):
        session.notify(b"")


class TooLong(Fault):
    """With each lock and unlock it sends a message of a thousand octets, well sealed."""

    def worked(self, session, item):
        session.send(bytes([sesame.PUBLISH, 200]) + bytes(998))


class TruncatedStatus(Fault):
    """With each lock and unlock it publishes a status of three octets."""

    def worked(self, session, item):
        session.send(bytes([sesame.PUBLISH, sesame.STATUS]) + self.lock.status()[:3])


class ResultUndefined(Fault):
    """It obeys an unlock, and answers with a result that does not exist."""

    def answer(self, item, result, data):
        return item, 42 if item == sesame.UNLOCK else result, data


class StatusMissingAfterLogin(Fault):
    """After a login it does not publish its status."""

    def publishes(self, session, item, data):
        return [(item, data)] if item != sesame.STATUS or session.is_logged_in else []


class MessagesSentTwice(Fault):
    """It sends each sealed message twice, under one counter."""

    def cut(self, frames):
        return frames * 2 if frames[-1][0] & 0x04 else frames


class CounterSkips(Fault):
    """With each unlock its counter leaves a number out."""

    def worked(self, session, item):
        if item == sesame.UNLOCK:
            session.cipher.sent += 1


class CounterKeptAcrossSessions(Fault):
    """Its counters go on from the session before."""

    last = None

    def began(self, session):
        if self.last:
            session.cipher.sent, session.cipher.received = self.last.sent, self.last.received
        self.last = session.cipher


class TokenRepeated(Fault):
    """Every connection has the same token."""

    first = None

    def token(self, token):
        self.first = self.first or token
        return self.first


class TokenMissingEverySecondTime(Fault):
    """Every second connection gets no token."""

    count = 0

    def token(self, token):
        self.count += 1
        return token if self.count % 2 else None


class KeyTold(Fault):
    """It publishes the owner's secret after each login, sealed."""

    def logged_in(self, session):
        session.send(bytes([sesame.PUBLISH, 200]) + self.lock.secret)


class StatusLagsOneBehind(Fault):
    """Each status that it publishes is the one before."""

    last = None

    def publishes(self, session, item, data):
        if item != sesame.STATUS:
            return [(item, data)]
        said, self.last = self.last or data, data
        return [(item, said)]


class RestUnpublished(Fault):
    """It never publishes that the bolt has come to rest."""

    def publishes(self, session, item, data):
        is_rest = item == sesame.STATUS and session.is_logged_in and not self.lock.moving
        return [] if is_rest else [(item, data)]


class MovingAfterRest(Fault):
    """When the bolt has come to rest, a status in which the motor runs follows."""

    running = None

    def publishes(self, session, item, data):
        if item != sesame.STATUS or not session.is_logged_in:
            return [(item, data)]
        if self.lock.moving:
            self.running = data
            return [(item, data)]
        late, self.running = self.running, None
        return [(item, data)] + ([(item, late)] if late else [])


# Faults of whom it obeys.


class LoginProofUnchecked(Fault):
    """Any proof opens a session."""

    def accepts(self, session, proof):
        return True


class LoginProofReplayed(Fault):
    """The proof of any earlier session opens one."""

    def __init__(self, lock):
        super().__init__(lock)
        self.proofs = set()

    def began(self, session):
        self.proofs.add(session.proof)

    def accepts(self, session, proof):
        return proof in self.proofs


class PlaintextCommandObeyed(Fault):
    """The lock obeys a clear-text lock or unlock, with or without a session."""

    def clear(self, session, operation, item, data):
        if item not in (sesame.LOCK, sesame.UNLOCK):
            return False
        session.command(operation, item, data)
        return True


class ReplayedCommandObeyed(Fault):
    """Any earlier message of the session is obeyed again."""

    def unsealed(self, session, sealed):
        return session.cipher.reopened(sealed, range(session.cipher.received))


class ReplayedSessionObeyed(Fault):
    """Any message of an earlier session is obeyed."""

    def __init__(self, lock):
        super().__init__(lock)
        self.ciphers = []

    def began(self, session):
        self.ciphers.append(session.cipher)

    def unsealed(self, session, sealed):
        for cipher in self.ciphers:
            message = cipher is not session.cipher and cipher.reopened(sealed, range(cipher.received))
            if message:
                return message
        return None


class ResetKeepsKey(Fault):
    """After a reset the former owner's secret opens sessions still, beside the new owner's."""

    def __init__(self, lock):
        super().__init__(lock)
        self.secrets = []

    def forgot(self, secret, positions, autolock):
        self.secrets.append(secret)

    def other_secrets(self):
        return self.secrets


class ResetIgnored(Fault):
    """A reset is answered with success, and nothing is forgotten."""

    def forgot(self, secret, positions, autolock):
        self.lock.secret, self.lock.positions = secret, positions


# Faults of what it does.


class DeafUnlock(Fault):
    """An unlock is answered with success, and the motor stays."""

    def obeys(self, goal):
        return goal != "unlocked"


class LongRequestSpoilsNext(Fault):
    """After an unknown request of three frames or more the next one is lost."""

    is_spoilt = False

    def requested(self, session, item, data):
        was_spoilt, self.is_spoilt = self.is_spoilt, item == 0xFA and len(data) > 30
        return was_spoilt


class LoginNeverAnswered(Fault):
    """A login in clear is passed over, on every second connection."""

    count = 0

    def connected(self, connection):
        self.count += 1

    def ignores(self, session, item):
        return item == sesame.LOGIN and self.count % 2 == 0


class SettingUnpublished(Fault):
    """Positions that are set are answered, and neither they nor the status by them are published."""

    is_silent = False

    def requested(self, session, item, data):
        self.is_silent = item == sesame.SETTING
        return False

    def publishes(self, session, item, data):
        return [] if self.is_silent and session.is_logged_in else [(item, data)]


class AutolockChangeIgnored(Fault):
    """A new delay of autolock is answered with success, and the old one stays."""

    def requested(self, session, item, data):
        if item != sesame.AUTOLOCK or not data:
            return False
        session.respond(sesame.SUCCESS)
        return True


class SilentAfterThreeVisits(Fault):
    """After three connections in a row without a login it does not advertise for 40 seconds."""

    SILENCE = 40
    visits = 0

    def connected(self, connection):
        self.visits += 1

    def logged_in(self, session):
        self.visits = 0

    def registered(self, session):
        self.visits = 0

    def silent_for(self, seconds):
        if self.visits < 3:
            return seconds
        self.visits = 0
        self.lock.say("silent")
        return self.SILENCE


class GoneAfterThreeVisits(SilentAfterThreeVisits, Fault):
    """After three connections in a row without a login it does not advertise any more."""

    SILENCE = 100_000


class HastyUnlockStopsHalfWay(Fault):
    """An unlock that comes within 150 ms of a motion's end stops half way."""

    since = -1.0
    is_hasty = False

    def rested(self):
        self.since = time.monotonic()

    def obeys(self, goal):
        self.is_hasty = goal == "unlocked" and time.monotonic() - self.since < 0.15
        return True

    def turning(self, seconds):
        if self.is_hasty:
            self.stopping = asyncio.get_running_loop().call_later(seconds / 2, self.stop)

    def stop(self):
        if self.lock.moving:
            self.lock.moving.cancel()
            self.lock.bolt.stop()
            self.lock.come_to_rest()


class SettingsLostOnReconnect(Fault):
    """The end of a connection clears the positions."""

    def disconnected(self):
        self.lock.positions = None


class AutolockFromLogin(Fault):
    """Autolock counts from the login, and not from the unlocking."""

    def __init__(self, lock):
        super().__init__(lock)
        self.login = 0.0

    def logged_in(self, session):
        self.login = time.monotonic()

    def autolocks_in(self, seconds):
        return max(0.1, seconds - (time.monotonic() - self.login))


class AutolockOutlivesReset(Fault):
    """The next owner has the autolock time of the one before."""

    def forgot(self, secret, positions, autolock):
        self.lock.autolock = autolock


class HistoryNeverEmpties(Fault):
    """A deleted history record remains in the history."""

    def __init__(self, lock):
        super().__init__(lock)
        self.forgot(None, None, 0)

    def forgot(self, secret, positions, autolock):
        self.lock.history.delete = lambda number: True


class LongTagMangled(Fault):
    """The history garbles tags whose records take three frames: more than fifteen octets of text."""

    def recorded(self, tag):
        length = 1 + tag[0] % 30 if tag and tag[0] else len(tag)
        return tag[:15] + bytes(octet ^ 0x01 for octet in tag[15:length]) + tag[length:]


class RecordNumbersRestart(Fault):
    """After each connection the numbers of records begin again at 1."""

    def disconnected(self):
        self.lock.history.number = 0


class RecordTimeLost(Fault):
    """Its clock is an hour fast. Once it was set back, records have the time 0."""

    is_lost = False

    def __init__(self, lock):
        super().__init__(lock)
        lock.ahead = 3600.0

    def set_back(self):
        self.is_lost = True
        return False

    def dated(self, seconds):
        return 0 if self.is_lost else seconds


class RecordsExchanged(Fault):
    """Two records of one second are exchanged, but for their numbers."""

    second = 0

    def added(self, history):
        second, self.second = self.second, int(time.time())
        if second != self.second or len(history.records) < 2:
            return
        (first, one), (last, other) = history.records[-2:]
        history.records[-2:] = [
            (first, first.to_bytes(4, "little") + other[4:]), (last, last.to_bytes(4, "little") + one[4:])]


class TagOfCommandBefore(Fault):
    """The record of a command has the tag of the command before."""

    tag = b"\x00"

    def recorded(self, tag):
        tag, self.tag = self.tag, tag
        return tag


class RecordTwice(Fault):
    """A command leaves two records."""

    def copies(self, tag):
        return 1 if tag is None else 2


class HistoryOutlivesReset(Fault):
    """The next owner reads the history of the one before."""

    def __init__(self, lock):
        super().__init__(lock)
        self.history = lock.history

    def forgot(self, secret, positions, autolock):
        self.lock.history = self.history


class ClockNeverSetBack(Fault):
    """Its clock is an hour fast. An earlier time is answered with success, and the clock stays."""

    def __init__(self, lock):
        super().__init__(lock)
        lock.ahead = 3600.0

    def set_back(self):
        return True


# Habits.


class Habit(Oddity):
    """What a lock may do, though few do."""


class MovementsRecorded(Habit):
    """A command for which the bolt need not move leaves no record."""

    def copies(self, tag):
        lock = self.lock
        goal = lock.positions and lock.positions[lock.is_unlocking]
        return 0 if tag is not None and not lock.moving and lock.bolt.angle() == goal else 1


class SmallHistory(Habit):
    """Its history has three records."""

    def added(self, history):
        history.records = history.records[-3:]


class NumbersWithGaps(Habit):
    """Every record takes ten numbers."""

    def added(self, history):
        history.number += 9


class ClockFast(Habit):
    """Its clock is an hour fast, until it is set."""

    def __init__(self, lock):
        super().__init__(lock)
        lock.ahead = 3600.0


class StatusTwice(Habit):
    """Each status is published twice."""

    def publishes(self, session, item, data):
        return [(item, data)] * (2 if item == sesame.STATUS else 1)


class UnknownPublishes(Habit):
    """After the login and with each lock and unlock it publishes items that nobody knows."""

    ITEMS = ((92, bytes(2)), (202, bytes.fromhex("b80bb00b")), (0xEE, b""), (106, bytes(17)))

    def logged_in(self, session):
        for item, data in self.ITEMS:
            session.send(bytes([sesame.PUBLISH, item]) + data)

    def worked(self, session, item):
        self.logged_in(session)


class SlowAnswers(Habit):
    """Each answer, and what follows it, takes a second."""

    def hold(self, item):
        return 1


class LinksDroppedAtOnce(Habit):
    """Every ninth connection is ended by the lock before anything was said on it."""

    count = 0

    def connected(self, connection):
        self.count += 1
        if self.count % 9 == 0:
            self.lock.say("drops the link")
            self.lock.hang_up(connection)


class ClockSlow(Habit):
    """Its clock is an hour slow, until it is set."""

    def __init__(self, lock):
        super().__init__(lock)
        lock.ahead = -3600.0


class TokenTwice(Habit):
    """It sends the token twice."""

    def opened(self, session):
        session.tell_token()


class TokenAgain(Habit):
    """It sends the token once more in the middle of a session, in clear, as the token is."""

    def logged_in(self, session):
        session.tell_token()


class EarlyCiphertext(Habit):
    """Something sealed comes before the token, as some have seen of real locks."""

    def opening(self, session):
        session.transmit(bytes(9 + sesame.Cipher.TAG), True)


class LeftoverCiphertext(Habit):
    """The last message of the session before comes once more before the token, sealed as it was."""

    last = None

    def began(self, session):
        self.last = session

    def opening(self, session):
        if self.last:
            message = bytes([sesame.PUBLISH, sesame.STATUS]) + self.lock.status()
            session.transmit(self.last.cipher.encrypt(message), True)


class LeftoverFrame(Habit):
    """The last frame of a message of the connection before comes before the token."""

    count = 0

    def opening(self, session):
        self.count += 1
        if self.count > 1:
            session.notify(bytes([0x04]) + bytes(9))


class AnswersLast(Habit):
    """What comes of a request is published before the request is answered."""

    def answers_last(self, item):
        return item in (sesame.SETTING, sesame.AUTOLOCK, sesame.LOCK, sesame.UNLOCK)


class LoginAfterRegistrationIgnored(Habit):
    """A login on the connection of a registration is passed over, and the session goes on."""

    def ignores(self, session, item):
        return item == sesame.LOGIN and session.has_registered


class OwnedIdentityIgnored(Habit):
    """A lock with an owner passes over the request for its identity."""

    def ignores(self, session, item):
        return item == sesame.IDENTITY and self.lock.secret is not None


class BornWithPositions(Habit):
    """A lock without an owner has positions, from the factory or from its last owner."""

    def __init__(self, lock):
        super().__init__(lock)
        lock.positions = lock.positions or sesame.FACTORY_POSITIONS

    def forgot(self, secret, positions, autolock):
        self.lock.positions = positions


class AutolockFromNextUnlocking(Habit):
    """A new autolock time counts from the next unlocking, and not from where the bolt rests unlocked already."""

    def autolock_waits(self):
        return True


class SmallFrames(Habit):
    """Its frames hold ten octets of a message, and not nineteen."""

    def cut(self, frames):
        if len(frames) == 1 and len(frames[0]) <= 11:
            return frames
        return sesame.frames(b"".join(frame[1:] for frame in frames), frames[-1][0] & 4, 10)


class SlowAdvertising(Habit):
    """It advertises every two seconds."""

    def advertises_every(self, milliseconds):
        return 2000


class MoreServices(Habit):
    """It has services for its battery and its maker, and its characteristics have descriptions."""

    def services(self):
        readable = Characteristic.Properties.READ
        level = readable | Characteristic.Properties.NOTIFY
        return [
            Service("180A", [Characteristic("2A29", readable, Characteristic.READABLE, b"CANDY HOUSE")]),
            Service("180F", [Characteristic("2A19", level, Characteristic.READABLE, b"\x64")]),
        ]

    def descriptors(self):
        return [Descriptor("2901", Descriptor.READABLE, b"requests")]


class StatusFirst(Habit):
    """After a login it publishes the status before the setting as well."""

    def publishes(self, session, item, data):
        if item == sesame.SETTING and not session.is_logged_in:
            return [(sesame.STATUS, self.lock.status()), (item, data)]
        return [(item, data)]


class PublishesWhenRegistered(Habit):
    """After a registration it publishes setting and status, as after a login."""

    def registered(self, session):
        session.publish(sesame.SETTING, self.lock.setting())
        session.publish(sesame.STATUS, self.lock.status())


class ChattyMotor(Habit):
    """While the motor runs the status is published every tenth of a second."""

    def turning(self, seconds):
        async def chatter():
            while self.lock.moving:
                await asyncio.sleep(0.1)
                if self.lock.moving:
                    self.lock.publish_status()

        self.task = asyncio.create_task(chatter())


FAULTS = {fault.name(): fault for fault in Fault.__subclasses__()}
HABITS = {habit.name(): habit for habit in Habit.__subclasses__()}
