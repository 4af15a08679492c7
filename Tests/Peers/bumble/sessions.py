"""Sessions with a lock, at its end: what it makes of frames and messages, and what it says."""

import os
import struct
import time

from cryptography.exceptions import InvalidTag

import sesame


class Session:
    """One connection that turned notifications on. What differs between the generations is below."""

    def __init__(self, lock, connection):
        self.lock, self.connection = lock, connection
        self.cipher = self.proof = None
        self.is_logged_in = self.has_registered = False
        self.late = None  # the answer that is given once all that comes of the request is published
        self.request = None, None  # the operation (OS2) and the item of what was asked last
        self.frames = sesame.Reassembler()
        self.token = lock.filtered("token", os.urandom(4))
        if self.token is not None:
            lock.tell("opening", self)
            self.tell_token()
            lock.tell("opened", self)

    # What it says.

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

    def respond(self, result, data=b""):
        """Answers the request."""
        operation, asked = self.request
        answer = (asked, result, data)
        for oddity in self.lock.oddities:
            answer = answer and oddity.answer(*answer)
        if answer and any(oddity.answers_last(asked) for oddity in self.lock.oddities):
            self.late = self.response(operation, *answer), self.hold(asked)
        elif answer:
            self.send(self.response(operation, *answer), self.hold(asked))

    def hold(self, item):
        return max((oddity.hold(item) for oddity in self.lock.oddities), default=0)

    def publish(self, item, data):
        publishes = [(item, data)]
        for oddity in self.lock.oddities:
            publishes = [said for one in publishes for said in oddity.publishes(self, *one)]
        for said in publishes:
            self.send(bytes([sesame.PUBLISH, said[0]]) + said[1])

    # What it hears.

    def receive(self, frame):
        whole = self.frames.push(frame)
        if whole is None or self.token is None:
            return
        message, encrypted = whole
        if encrypted and self.cipher:
            message = self.unsealed(message)
            if message:
                self.command(*self.split(message))
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
        """A message in clear: only what opens a session counts."""
        operation, item, data = self.split(message)
        open_session = self.OPENING.get((operation, item))
        if open_session and any(oddity.ignores(self, item) for oddity in self.lock.oddities):
            self.lock.say("ignored in clear")
        elif open_session and self.may_open(item):
            self.request = operation, item
            open_session(self, data)
        else:
            self.lock.first("clear", self, operation, item, data)

    def may_open(self, item):
        """Who has registered may log in on the same connection."""
        return self.cipher is None or self.has_registered and item == sesame.LOGIN

    def begin(self, cipher, proof=None):
        self.cipher, self.proof = cipher, proof
        self.lock.tell("began", self)

    def refuse(self):
        self.lock.say("login refused")
        self.lock.hang_up(self.connection)

    def secrets(self):
        """Those that open a session."""
        others = [secret for oddity in self.lock.oddities for secret in oddity.other_secrets()]
        return [secret for secret in (self.lock.secret, *others) if secret]

    def command(self, operation, item, data):
        self.request = operation, item
        if any(oddity.requested(self, item, data) for oddity in self.lock.oddities):
            return
        carry_out = self.REQUESTS.get((operation, item))
        if carry_out is None:
            self.respond(sesame.NOT_SUPPORTED)
            return
        try:
            carry_out(self, data)
        except struct.error:
            self.respond(sesame.INVALID_FORMAT)
        if self.late:
            (message, hold), self.late = self.late, None
            self.send(message, hold)

    def work(self, tag):
        lock, item = self.lock, self.request[1]
        if not lock.generation.is_tag(tag):
            self.respond(sesame.INVALID_FORMAT)
        elif lock.positions is None:
            self.respond(sesame.INVALID_ACTION)
        else:
            lock.say("lock" if item == sesame.LOCK else "unlock")
            self.respond(sesame.SUCCESS)
            lock.tell("worked", self, item)
            kind = sesame.LOCKED_BY_CLIENT if item == sesame.LOCK else sesame.UNLOCKED_BY_CLIENT
            lock.record(kind, lock.filtered("recorded", tag))
            lock.drive("locked" if item == sesame.LOCK else "unlocked")

    def set_positions(self, data):
        positions = self.lock.generation.positions(data)
        if positions[0] == positions[1] or sesame.NO_ANGLE in positions:
            self.respond(sesame.INVALID_PARAMETER)
            return
        self.lock.positions = positions
        self.respond(sesame.SUCCESS)
        self.lock.record(sesame.POSITIONS_SET)
        self.lock.count_autolock()
        self.publish(sesame.SETTING, self.lock.setting())
        self.publish(sesame.STATUS, self.lock.status())

    def set_autolock(self, data):
        (seconds,) = struct.unpack("<h", data)
        if seconds < 0:
            self.respond(sesame.INVALID_PARAMETER)
            return
        self.lock.autolock = seconds
        self.respond(sesame.SUCCESS)
        self.lock.record(sesame.AUTOLOCK_SET)
        if not seconds or not self.lock.first("autolock_waits"):
            self.lock.count_autolock()

    def set_time(self, data):
        self.lock.set_clock(data)
        self.respond(sesame.SUCCESS)
        self.lock.record(sesame.TIME_SET)

    def tell_version(self, data):
        struct.unpack("", data)
        self.respond(sesame.SUCCESS, self.lock.generation.VERSION)

    def read_history(self, data):
        """Tells the oldest record, and deletes it if that was asked as well."""
        (argument,) = struct.unpack("B", data)
        record = self.lock.history.oldest()
        self.respond(sesame.SUCCESS if record else sesame.NOT_FOUND, record or b"")
        if record and argument == self.READS_AND_DELETES:
            self.lock.history.delete(int.from_bytes(record[:4], "little"))

    def reset(self, data):
        struct.unpack("", data)
        self.lock.say("reset")
        self.respond(sesame.SUCCESS)
        self.lock.forget()


class OS3Session(Session):
    """A session with a Sesame 5."""

    READS_AND_DELETES = 0

    @staticmethod
    def split(message):
        return None, message[0], message[1:]

    @staticmethod
    def response(operation, item, result, data=b""):
        return bytes([sesame.RESPONSE, item, result]) + data

    def log_in(self, proof):
        lock = self.lock
        cipher = self.proved(proof)
        if not cipher:
            self.refuse()
            return
        self.begin(cipher, proof)
        self.has_registered = False
        self.respond(sesame.SUCCESS, struct.pack("<I", lock.clock()))
        self.publish(sesame.SETTING, lock.setting())
        self.publish(sesame.STATUS, lock.status())
        self.is_logged_in = True
        lock.say("logged in")
        lock.tell("logged_in", self)

    def proved(self, proof):
        """The cipher of the session that a proof opens, or None."""
        ciphers = [sesame.Cipher(secret, self.token) for secret in self.secrets()]
        for cipher in ciphers:
            if cipher.proof == proof:
                return cipher
        return ciphers[0] if ciphers and self.lock.secret and self.lock.first("accepts", self, proof) else None

    def register(self, data):
        lock = self.lock
        if lock.secret:
            self.respond(sesame.INVALID_ACTION)
            return
        try:
            secret = sesame.device_secret(lock.private, data[:64]) if len(data) in (64, 68) else None
        except ValueError:  # no point of the curve
            secret = None
        if not secret:
            self.respond(sesame.INVALID_FORMAT)
            return
        if len(data) == 68:
            lock.set_clock(data[64:])
        self.respond(sesame.SUCCESS, lock.status() + lock.setting() + sesame.public_octets(lock.private))
        lock.secret = secret
        self.begin(sesame.Cipher(secret, self.token))
        self.is_logged_in = self.has_registered = True
        lock.say("registered")
        lock.tell("registered", self)

    def set_autolock(self, data):
        super().set_autolock(data)
        self.publish(sesame.SETTING, self.lock.setting())

    def delete_history(self, data):
        (number,) = struct.unpack("<I", data)
        self.respond(sesame.SUCCESS if self.lock.history.delete(number) else sesame.NOT_FOUND)

    def pass_over(self, data):
        """A status cannot be asked for, and there is no answer."""

    OPENING = {(None, sesame.LOGIN): log_in, (None, sesame.REGISTRATION): register}
    REQUESTS = {
        (None, sesame.LOCK): Session.work,
        (None, sesame.UNLOCK): Session.work,
        (None, sesame.SETTING): Session.set_positions,
        (None, sesame.STATUS): pass_over,
        (None, sesame.AUTOLOCK): set_autolock,
        (None, sesame.TIME): Session.set_time,
        (None, sesame.VERSION): Session.tell_version,
        (None, sesame.HISTORY): Session.read_history,
        (None, sesame.HISTORY_DELETE): delete_history,
        (None, sesame.RESET): Session.reset,
    }


class OS2Session(Session):
    """A session with a Sesame 3 or 4."""

    READS_AND_DELETES = 1

    @staticmethod
    def split(message):
        return message[0], message[1] if len(message) > 1 else 0, message[2:]

    @staticmethod
    def response(operation, item, result, data=b""):
        return bytes([sesame.RESPONSE, item, operation or sesame.READ, result]) + data

    def payload(self):
        """What a login tells: clock, firmware, counts, setting and status."""
        return struct.pack("<I4B", self.lock.clock(), 1, 0, 0x80, 1) + self.lock.setting() + self.lock.status()

    def log_in(self, data):
        index, public, app_token, proof = data[:2], data[2:66], data[66:70], data[70:]
        try:
            shared = sesame.device_secret(self.lock.private, public) if len(data) == 74 else None
        except ValueError:
            shared = None
        if not shared or index != bytes(2) or not self.is_proved(index, public, app_token, proof):
            self.refuse()
            return
        token = app_token + self.token
        self.begin(sesame.OS2Cipher(sesame.mac(shared, token), token), proof)
        self.has_registered = False
        self.respond(sesame.SUCCESS, self.payload())
        self.is_logged_in = True
        self.lock.say("logged in")
        self.lock.tell("logged_in", self)

    def is_proved(self, index, public, app_token, proof):
        for secret in self.secrets():
            if sesame.os2_proof(secret, index, public, app_token, self.token) == proof:
                return True
        return bool(self.lock.secret and self.lock.first("accepts", self, proof))

    def tell_identity(self, data):
        """What a registration begins with; a secret once there is an owner."""
        if self.lock.secret:
            self.respond(sesame.INVALID_ACTION)
        else:
            self.respond(sesame.SUCCESS, self.lock.key.identity.bytes + self.lock.er)

    def register(self, data):
        lock = self.lock
        if lock.secret:
            self.respond(sesame.INVALID_ACTION)
            return
        signature, public, server_token = data[:4], data[-68:-4], data[-4:]
        try:
            shared = sesame.device_secret(lock.private, public) if len(data) >= 72 else None
        except ValueError:
            shared = None
        if not shared:
            self.respond(sesame.INVALID_FORMAT)
        elif sesame.os2_signature(lock.private, public, server_token, self.token) != signature:
            self.respond(sesame.INVALID_SIGNATURE)
        else:
            token = server_token + self.token
            key = sesame.mac(shared, token)
            self.respond(sesame.SUCCESS)
            lock.secret = sesame.mac(key, b"owner_key")
            self.begin(sesame.OS2Cipher(sesame.mac(key, token), token))
            self.publish(sesame.LOGIN, self.payload())
            self.is_logged_in = self.has_registered = True
            lock.say("registered")
            lock.tell("registered", self)

    def untagged(self, data, size):
        """What stands before the tag of a change."""
        if len(data) < size or not self.lock.generation.is_tag(data[size:]):
            raise struct.error("no tag")
        return data[:size]

    def set_positions(self, data):
        super().set_positions(self.untagged(data, 12))

    def set_autolock(self, data):
        super().set_autolock(self.untagged(data, 2))

    def tell_autolock(self, data):
        struct.unpack("", data)
        self.respond(sesame.SUCCESS, struct.pack("<h", self.lock.autolock))

    def tell_status(self, data):
        struct.unpack("", data)
        self.respond(sesame.SUCCESS, self.lock.status())

    OPENING = {
        (sesame.SYNC, sesame.LOGIN): log_in,
        (sesame.READ, sesame.IDENTITY): tell_identity,
        (sesame.CREATE, sesame.REGISTRATION): register,
    }
    REQUESTS = {
        (sesame.ASYNC, sesame.LOCK): Session.work,
        (sesame.ASYNC, sesame.UNLOCK): Session.work,
        (sesame.UPDATE, sesame.SETTING): set_positions,
        (sesame.READ, sesame.STATUS): tell_status,
        (sesame.UPDATE, sesame.AUTOLOCK): set_autolock,
        (sesame.READ, sesame.AUTOLOCK): tell_autolock,
        (sesame.UPDATE, sesame.TIME_UNSIGNED): Session.set_time,
        (sesame.READ, sesame.VERSION): Session.tell_version,
        (sesame.READ, sesame.HISTORY): Session.read_history,
        (sesame.DELETE, sesame.REGISTRATION): Session.reset,
    }


SESSIONS = {"sesame3": OS2Session, "sesame4": OS2Session, "sesame5": OS3Session, "sesame5pro": OS3Session}
