"""The open benchmark: the tables of the Sesame documentation, and a lock with two seeded bugs.

The same as the machine `sesame-table` and the emulated lock `reference`, for tools in Python. Events and statuses are
small numbers.
"""

import json
import statistics

EVENTS = ["closeTo", "connect", "linkUp", "gattReady", "register", "registered", "configure", "loginDone", "lock", "unlock",
          "toggle", "disconnect", "reset"]
(CLOSE, CONNECT, LINK_UP, GATT, REGISTER, REGISTERED, CONFIGURE, LOGIN, LOCK, UNLOCK, TOGGLE, DISCONNECT, RESET) = range(13)
# Only for tools that learn, and take a lock whose answers depend on nothing but its state: a hand on the bolt.
TURN = 13
(NO_SIGNAL, RECEIVED_BLE, CONNECTING, WAITING_GATT, READY_TO_REGISTER, REGISTERING, NO_SETTING, LOGGING_IN, LOCKED, UNLOCKED,
 MOVED, RESET_DONE) = range(12)
PLACES = (LOCKED, UNLOCKED, MOVED)
# How short the shortest trace that shows each bug is.
SHORTEST = {1: 16, 2: 28}

# (status, registered) -> {event: (the statuses that are allowed next, whether registered then)}
LEGAL = {}


def _row(status, registered, event, allowed, then=None):
    LEGAL.setdefault((status, registered), {})[event] = (frozenset(allowed), registered if then is None else then)


for _registered in (False, True):
    _row(NO_SIGNAL, _registered, CLOSE, [RECEIVED_BLE])
    _row(RECEIVED_BLE, _registered, CONNECT, [CONNECTING])
    _row(CONNECTING, _registered, LINK_UP, [WAITING_GATT])
_row(WAITING_GATT, False, GATT, [READY_TO_REGISTER])
_row(READY_TO_REGISTER, False, REGISTER, [REGISTERING])
_row(REGISTERING, False, REGISTERED, [NO_SETTING], True)
_row(WAITING_GATT, True, GATT, [LOGGING_IN])
_row(LOGGING_IN, True, LOGIN, [*PLACES, NO_SETTING])
_row(LOGGING_IN, True, DISCONNECT, [NO_SIGNAL])
_row(NO_SETTING, True, CONFIGURE, PLACES)
_row(NO_SETTING, True, DISCONNECT, [NO_SIGNAL])
_row(NO_SETTING, True, RESET, [RESET_DONE])
for _place in PLACES:
    _row(_place, True, LOCK, [LOCKED])
    _row(_place, True, UNLOCK, [UNLOCKED])
    _row(_place, True, TOGGLE, {LOCKED: [UNLOCKED], UNLOCKED: [LOCKED], MOVED: [LOCKED, UNLOCKED]}[_place])
    _row(_place, True, DISCONNECT, [NO_SIGNAL])
    _row(_place, True, RESET, [RESET_DONE])
_row(RESET_DONE, True, DISCONNECT, [NO_SIGNAL], False)
LEGAL_EVENTS = {place: tuple(sorted(row)) for place, row in LEGAL.items()}


class Model:
    """What the tables allow: after each event the model adopts the status that was shown."""

    __slots__ = ("status", "registered")

    def __init__(self):
        self.status, self.registered = NO_SIGNAL, True

    def legal(self):
        return LEGAL_EVENTS[(self.status, self.registered)]

    def check(self, event, shown):
        """Whether the tables allow what was shown."""
        row = LEGAL[(self.status, self.registered)].get(event)
        if row is None:
            return shown == self.status
        allowed, self.registered = row
        if shown not in allowed:
            return False
        self.status = shown
        return True


class Lock:
    """The emulated lock, healthy (0) or with bug 1 or 2; `fixed` when its answers are to depend on its state alone."""

    __slots__ = ("status", "registered", "configured", "bolt", "random", "bug", "fixed", "was_reset", "aborts",
                 "aborts_at_login", "last")

    def __init__(self, bug=0, fixed=False):
        self.status, self.registered, self.configured, self.bolt = NO_SIGNAL, True, True, LOCKED
        self.random = 0x9E3779B9
        self.bug, self.fixed = bug, fixed
        self.was_reset = False
        self.aborts = self.aborts_at_login = 0
        self.last = (-1, -1, -1)

    def copy(self):
        copy = object.__new__(Lock)
        for name in self.__slots__:
            setattr(copy, name, getattr(self, name))
        return copy

    def _draw(self):
        word = self.random
        word ^= (word << 13) & 0xFFFFFFFF
        word ^= word >> 17
        word ^= (word << 5) & 0xFFFFFFFF
        self.random = word
        return LOCKED + word % 3

    def step(self, event):
        """Takes an event and says the status after it."""
        if event == TURN:
            self.bolt = LOCKED + (self.bolt - LOCKED + 1) % 3
            if self.status in PLACES:
                self.status = self.bolt
            return self.status
        if event not in LEGAL[(self.status, self.registered)]:
            return self.status
        self.status = self._next(event)
        self.last = (event, *self.last[:2])
        return self.status

    def _next(self, event):
        if event == GATT:
            return LOGGING_IN if self.registered else READY_TO_REGISTER
        if event == REGISTERED:
            self.registered, self.aborts = True, 0
            return NO_SETTING
        if event == CONFIGURE:
            self.configured = True
            self.bolt = LOCKED if self.fixed else self._draw()
            return self.bolt
        if event == LOGIN:
            self.aborts_at_login, self.aborts = self.aborts, 0
            if not self.configured:
                return NO_SETTING
            if not self.fixed:
                self.bolt = self._draw()
            return self.bolt
        if event == LOCK:
            jams = self.bug == 2 and self.aborts_at_login >= 4 and self.last == (TOGGLE, TOGGLE, LOGIN)
            self.bolt = MOVED if jams else LOCKED
            return self.bolt
        if event == UNLOCK:
            if self.bug == 1 and self.was_reset and self.last[0] == LOCK and self.last[1] in (LOGIN, CONFIGURE):
                return self.status
            self.bolt = UNLOCKED
            return self.bolt
        if event == TOGGLE:
            self.bolt = UNLOCKED if self.status == LOCKED else LOCKED
            return self.bolt
        if event == DISCONNECT:
            if self.status == LOGGING_IN:
                self.aborts += 1
            elif self.status == RESET_DONE:
                self.registered = self.configured = False
            return NO_SIGNAL
        if event == RESET:
            self.was_reset = True
            return RESET_DONE
        return {CLOSE: RECEIVED_BLE, CONNECT: CONNECTING, LINK_UP: WAITING_GATT, REGISTER: REGISTERING}[event]


def say(name, value, **more):
    """Prints one figure."""
    print(json.dumps({"name": name, "value": value, **more}), flush=True)


def say_search(name, bug, rows):
    """Prints what came of searches for a bug: each row is a dictionary, empty where nothing was found."""
    found = [row for row in rows if row]
    say(f"{name}.bug{bug}.found", len(found), of=len(rows))
    if not found:
        return
    say(f"{name}.bug{bug}.find", statistics.median(row["find"] for row in found))
    say(f"{name}.bug{bug}.find-worst", max(row["find"] for row in found))
    if "length" in found[0]:
        say(f"{name}.bug{bug}.minimum", sum(row["length"] == SHORTEST[bug] for row in found), of=len(found))
        say(f"{name}.bug{bug}.shrink-runs", statistics.median(row["runs"] for row in found))
        say(f"{name}.bug{bug}.shrink-events", statistics.median(row["events"] for row in found))
