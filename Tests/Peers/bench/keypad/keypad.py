#!/usr/bin/env python3
"""A lock with a keypad for two users. It holds their codes, counts wrong tries and writes a log.

usage: keypad.py [--link] [--fault NAME]     a device in virtual time, for --device 'exec:python3 keypad.py --fault prefix'

`Keypad` is the lock. It has no clock: time is an argument, in seconds. `FAULTS` are the same lock with one fault each.
With `--link`, the lock is behind a Bluetooth link (`Linked`), and has the faults of `LINK_FAULTS` too.
"""

import argparse
import json
import os

DURESS = "9119"
CODES = {"anna": "1234", "bob": "2468"}
# How long it stays unlocked, and locked out; how many records the log holds.
RELOCK, LOCK_OUT, RECORDS = 7, 60, 10

# The stimuli, with the names of their arguments. All arguments are texts.
STIMULI = {
    "enter": ("user", "code"), "lock": (), "change": ("user", "old", "new"), "delete": ("user",), "read": (), "update": (),
    "finish": (), "reset": (),
}


class Keypad:
    """The healthy lock."""

    most_tries = 3
    # Which record goes when the log is too long.
    replaced = RECORDS

    def __init__(self):
        self.status, self.due, self.number, self.tries, self.shown = "locked", None, 0, {}, []
        self.clear()

    def clear(self):
        """Sets the data as they were at first. The number of the last record stays."""
        self.codes, self.tries, self.log = dict(CODES), {}, []

    # How it is driven.

    def ask(self, now, stimulus, *arguments):
        """Takes a stimulus, after what was due by then.

        Returns what was shown, in pairs such as ("status", "locked"), ("effect", "beep"), ("log", [records]) and
        ("refused", "it is locked").
        """
        self.advance(now)
        getattr(self, stimulus)(now, *arguments)
        return self.take()

    def advance(self, limit):
        """Lets time pass. Returns the time at which it locked by itself, or None."""
        due = self.due
        if due is None or due > limit:
            return None
        self.turn("locked")
        return due

    def take(self):
        """Returns what was shown since the last call."""
        shown, self.shown = self.shown, []
        return shown

    # Stimuli.

    def enter(self, now, user, code):
        if self.status == "locked":
            if code == DURESS:
                has_alarm = self.has_alarm(user)
                self.open(now, user, "duress")
                if has_alarm:
                    self.effect("alarm")
            elif self.is_right(user, code):
                self.open(now, user, "opened")
            else:
                self.count(now, user)
        elif self.status == "unlocked":
            if code == DURESS or self.is_right(user, code):
                self.restart(now)
                self.effect("beep")
            else:
                self.effect("buzz")
        else:
            self.refuse()

    def lock(self, now):
        if self.status != "unlocked":
            return self.refuse()
        self.turn("locked")

    def change(self, now, user, old, new):
        if self.status not in ("locked", "unlocked"):
            return self.refuse()
        is_allowed = self.codes.get(user) == old and 4 <= len(new) <= 6 and new != DURESS
        if is_allowed:
            self.adopt(user, new)
        self.effect("done" if is_allowed else "denied")

    def delete(self, now, user):
        if self.status != "unlocked":
            return self.refuse()
        has_code = user in self.codes
        if has_code:
            self.remove(user)
        self.effect("done" if has_code else "denied")

    def read(self, now):
        if self.status == "firmware":
            return self.refuse()
        self.shown.append(("log", self.log[:]))

    def update(self, now):
        if self.status != "locked":
            return self.refuse()
        self.turn("firmware")

    def finish(self, now):
        if self.status != "firmware":
            return self.refuse()
        self.turn("locked")

    def reset(self, now):
        self.clear()
        if self.status != "locked":
            self.turn("locked")
        self.effect("done")

    # What they are made of.

    def turn(self, status, due=None):
        self.status, self.due = status, due
        self.shown.append(("status", status))

    def effect(self, name):
        self.shown.append(("effect", name))

    def refuse(self):
        self.shown.append(("refused", "it is " + self.status))

    def open(self, now, user, event):
        self.record(now, user, event)
        self.tries[self.counter(user)] = 0
        self.turn("unlocked", round(now + RELOCK, 9))

    def restart(self, now):
        self.due = round(now + RELOCK, 9)

    def count(self, now, user):
        """Counts a wrong try."""
        self.record(now, user, "refused")
        counter = self.counter(user)
        self.tries[counter] = tries = self.tries.get(counter, 0) + 1
        if tries < self.most_tries:
            return self.effect("buzz")
        self.tries[counter] = 0
        self.turn("lockedOut", round(now + LOCK_OUT, 9))

    def counter(self, user):
        return user

    def has_alarm(self, user):
        return True

    def is_right(self, user, code):
        return self.codes.get(user) == code

    def adopt(self, user, code):
        self.codes[user] = code

    def remove(self, user):
        del self.codes[user]

    def record(self, now, user, event):
        self.number += 1
        self.log.insert(0, {"number": self.number, "user": user, "event": event, "time": self.stamp(now)})
        if len(self.log) > RECORDS:
            del self.log[self.replaced]

    def stamp(self, now):
        return now


class OffByOne(Keypad):
    """The fourth wrong try locks it out, not the third."""

    most_tries = 4


class CountSurvivesReset(Keypad):
    """A reset does not forget wrong tries."""

    def clear(self):
        tries = self.tries
        super().clear()
        self.tries = tries


class LogWrapsWrongly(Keypad):
    """A record that comes to a full log replaces the newest but one of the ten, not the oldest."""

    replaced = 2


class SilentDuress(Keypad):
    """The duress code gives no alarm if the user has wrong tries."""

    def has_alarm(self, user):
        return not self.tries.get(user)


class DeletedUserOpens(Keypad):
    """The code of a deleted user stays right until a reset."""

    def clear(self):
        super().clear()
        self.deleted = {}

    def remove(self, user):
        self.deleted[user] = self.codes.pop(user)

    def is_right(self, user, code):
        return super().is_right(user, code) or self.deleted.get(user) == code


class Prefix(Keypad):
    """Only the first four characters of a code are compared when it is entered."""

    def is_right(self, user, code):
        return user in self.codes and self.codes[user][:4] == code[:4]


class RelockNotRestarted(Keypad):
    """A right code in `unlocked` does not start the time to relock again."""

    def restart(self, now):
        pass


class TimeOfBoot(Keypad):
    """After a firmware update, all records have the time of its end, until a reset."""

    def clear(self):
        super().clear()
        self.boot = None

    def finish(self, now):
        if self.status == "firmware":
            self.boot = now
        super().finish(now)

    def stamp(self, now):
        return now if self.boot is None else self.boot


class NumberReused(Keypad):
    """After a reset, the numbers of records begin again."""

    def clear(self):
        super().clear()
        self.number = 0


class SharedTries(Keypad):
    """The wrong tries of both users are one count."""

    def counter(self, user):
        return "both"


class OneInAMillion(Keypad):
    """After a change to a code of six digits, the code whose last digit is one greater is right too."""

    def clear(self):
        super().clear()
        self.also = {}

    def adopt(self, user, code):
        super().adopt(user, code)
        self.also.pop(user, None)
        if len(code) == 6 and code.isascii() and code.isdigit():
            self.also[user] = code[:5] + str((int(code[5]) + 1) % 10)

    def remove(self, user):
        super().remove(user)
        self.also.pop(user, None)

    def is_right(self, user, code):
        return super().is_right(user, code) or self.also.get(user) == code


FAULTS = {
    "off-by-one": OffByOne, "count-survives-reset": CountSurvivesReset, "log-wraps-wrongly": LogWrapsWrongly,
    "silent-duress": SilentDuress, "deleted-user-opens": DeletedUserOpens, "prefix": Prefix,
    "relock-not-restarted": RelockNotRestarted, "time-of-boot": TimeOfBoot, "number-reused": NumberReused,
    "shared-tries": SharedTries, "one-in-a-million": OneInAMillion,
}

class Linked:
    """A lock behind a Bluetooth link. It takes stimuli and shows its status only while the link is up. Its timers run on."""

    # How long it takes to connect.
    setup = 0.5

    def __init__(self, make=Keypad):
        self.lock, self.link, self.up, self.shown = make(), "noSignal", None, []

    @property
    def status(self):
        return self.lock.status if self.link == "connected" else self.link

    @property
    def due(self):
        return min((time for time in (self.up, self.lock.due) if time is not None), default=None)

    def ask(self, now, stimulus, *arguments):
        """Takes a stimulus, after what was due by then. Returns what was shown."""
        while self.advance(now) is not None:
            pass
        if stimulus in ("connect", "disconnect"):
            getattr(self, stimulus)(now)
        elif self.link == "connected":
            self.shown += self.lock.ask(now, stimulus, *arguments)
        else:
            self.refuse()
        return self.take()

    def advance(self, limit):
        """Lets time pass up to the first moment at which it shows something. Returns that moment, or None."""
        shown_at = None
        while (due := self.due) is not None and due <= (limit if shown_at is None else shown_at):
            if due == self.up:
                self.up, self.link = None, "connected"
                self.reconnect(due)
                self.shown.append(("status", self.status))
            else:
                self.lock.advance(due)
                shown = self.lock.take()
                if self.link == "connected":
                    self.shown += shown
            if self.shown:
                shown_at = due
        return shown_at

    def take(self):
        """Returns what was shown since the last call."""
        shown, self.shown = self.shown, []
        return shown

    def connect(self, now):
        if self.link != "noSignal":
            return self.refuse()
        self.link, self.up = "connecting", round(now + self.setup, 9)
        self.shown.append(("status", self.link))

    def disconnect(self, now):
        if self.link == "noSignal":
            return self.refuse()
        self.lose(now)
        self.link, self.up = "noSignal", None
        self.shown.append(("status", self.link))

    def refuse(self):
        self.shown.append(("refused", "it is " + self.status))

    def lose(self, now):
        """Is called when the link ends."""

    def reconnect(self, now):
        """Is called when the link is up."""


class ReconnectionLiftsLockOut(Linked):
    """A new connection ends the lock-out."""

    def reconnect(self, now):
        if self.lock.status == "lockedOut":
            self.lock.turn("locked")
            self.lock.take()


class RelockNeedsLink(Linked):
    """The time to relock stops while the link is away."""

    left = None

    def lose(self, now):
        if self.lock.status == "unlocked" and self.link == "connected":
            self.left, self.lock.due = self.lock.due - now, None

    def reconnect(self, now):
        if self.left is not None:
            self.left, self.lock.due = None, round(now + self.left, 9)


class TriesResetOnReconnection(Linked):
    """A new connection forgets wrong tries."""

    def reconnect(self, now):
        self.lock.tries = {}


LINK_FAULTS = {
    "reconnection-lifts-lock-out": ReconnectionLiftsLockOut, "relock-needs-link": RelockNeedsLink,
    "tries-reset-on-reconnection": TriesResetOnReconnection,
}

# The lock as a program.

HELLO = {
    "protocol": 2, "name": "keypad", "time": "virtual", "effects": True, "readings": ["log"], "stimuli": list(STIMULI),
    "settings": [], "moves": ["enter", "lock"],
}

encode = json.JSONEncoder(separators=(",", ":")).encode
# Each line that says nothing but a status or an effect is written once.
ENCODED = {}


class Program:
    """Answers the requests of Lockstep."""

    def __init__(self, make, stimuli=STIMULI):
        self.make, self.lock, self.stimuli = make, make(), stimuli

    def answer(self, line, lines):
        """Adds the lines that answer one line."""
        request = json.loads(line)
        refusal = None
        if "stimulus" in request:
            refusal = self.perform(request["stimulus"], request.get("arguments", {}), request["at"], lines)
        elif "advance" in request:
            at = self.lock.advance(round(request["at"] + request["advance"], 9))
            for kind, value in self.lock.take():
                lines.append(encode({kind: value, "at": at}))
        elif "reset" in request:
            if "hello" in request:
                lines.append(encode({"hello": HELLO | {"stimuli": list(self.stimuli)}}))
            self.lock = self.make()
            lines.append(encode({"status": self.lock.status}))
            refusal = next((f"there is no setting '{name}'" for name in request["reset"]), None)
        else:
            refusal = "it knows stimuli, resets and the passing of time"
        end = '"settled":true' if refusal is None else '"refused":' + encode(refusal)
        due = self.lock.due
        lines.append(f'{{{end},"next":{"null" if due is None else due}}}')

    def perform(self, stimulus, arguments, now, lines):
        """Gives the lock a stimulus. Returns why it was refused, or None."""
        names = self.stimuli.get(stimulus)
        if names is None:
            return f"there is no stimulus '{stimulus}'"
        values = [arguments.get(name) for name in names]
        if len(arguments) != len(names) or any(type(value) is not str for value in values):
            return f"the arguments of '{stimulus}' are {', '.join(names) or 'none'}, all texts"
        refusal = None
        for shown in self.lock.ask(now, stimulus, *values):
            kind, value = shown
            if kind == "refused":
                refusal = value
            elif kind == "log":
                lines.append(encode({"reading": {"log": value}}))
            else:
                text = ENCODED.get(shown)
                if text is None:
                    text = ENCODED[shown] = encode({kind: value})
                lines.append(text)
        return refusal

    def run(self):
        """Answers until the input ends: all lines that come together with one write."""
        pending = b""
        while piece := os.read(0, 65536):
            *requests, pending = (pending + piece).split(b"\n")
            lines = []
            for request in requests:
                self.answer(request.decode(), lines)
            if lines:
                data = ("\n".join(lines) + "\n").encode()
                while data:
                    data = data[os.write(1, data):]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--link", action="store_true", help="put the lock behind a Bluetooth link")
    parser.add_argument("--fault", choices=[*FAULTS, *LINK_FAULTS])
    chosen = parser.parse_args()
    make = FAULTS.get(chosen.fault, Keypad)
    if chosen.link:
        linked = LINK_FAULTS.get(chosen.fault, Linked)
        Program(lambda: linked(make), {"connect": (), "disconnect": ()} | STIMULI).run()
    elif chosen.fault in LINK_FAULTS:
        parser.error(f"{chosen.fault} needs --link")
    else:
        Program(make).run()


if __name__ == "__main__":
    main()
