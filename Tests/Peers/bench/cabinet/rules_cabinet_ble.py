"""The cabinet lock behind Bluetooth as Hypothesis tests it: without a radio, its client is a few lines here.

A message of two fragments takes 20 ms, and the link may be lost between them.
"""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

import measure
import virtual

bugs = measure.load("cabinet-ble")

LOCK, PIN, MASTER, QUERY = 1, 2, 3, 4
USER = b"cabinet-user-001"
STATES = ["locked", "unlocked", "shutOut"]
AIR = 0.01

TIMES = [0.05, 0.1, 0.25, 0.5, 1, 3, 6, 6.5, 6.75, 6.9, 6.95, 7, 7.25, 10, 15, 19, 19.5, 19.8, 19.9, 20, 25, 29, 29.9, 30, 31]
WAITS = st.one_of(st.sampled_from(TIMES), st.integers(1, 60_000).map(lambda milliseconds: milliseconds / 1000))
SHORT = st.sampled_from([0, 0.02, 0.05, 0.1, 0.2, 1])

# How long a state lasts: at the least, and at the most.
TIMERS = {"unlocked": (6.75, 7.25), "shutOut": (29.7, 30.3)}
IDLE = (19.7, 20.3)


class Model:
    """What the lock must do, link or not: its state goes on without one."""

    def __init__(self):
        self.state, self.since, self.wrong, self.pending, self.idle = "locked", 0, 0, None, None

    def answered(self, now):
        """The state that a code must lead to."""
        request, isRight, _ = self.pending
        self.pending = None
        if isRight:
            self.state, self.since, self.wrong = "unlocked", now, 0
        else:
            self.wrong += 1
            if self.wrong == 3:
                self.state, self.since, self.wrong = "shutOut", now, 0
        return self.state

    def possible(self, now):
        """The states that a lock may be found in."""
        if self.state in TIMERS:
            earliest, latest = TIMERS[self.state]
            lasted = now - self.since
            return {"locked"} if lasted > latest else {self.state} if lasted < earliest else {self.state, "locked"}
        return {"locked"}


def machine(bug, count):
    make = bugs.lockNamed(["bug=" + bug] if bug else [])

    class Machine(RuleBasedStateMachine):
        def __init__(self):
            super().__init__()
            self.device = virtual.Device()
            self.lock, self.model, self.length = make(self.device), Model(), 0
            self.lock.reset()
            self.isConnected, self.tag, self.queries = False, 0, set()

        def event(self, function):
            count.event()
            self.length += 1
            try:
                function()
                self.look()
            except AssertionError:
                count.failed(self.length)
                raise

        # What comes from the lock.

        def look(self):
            model = self.model
            for at, kind, value in self.device.take():
                if kind == "disconnected":
                    assert model.idle is not None and IDLE[0] <= at - model.idle <= IDLE[1] and not model.pending
                    self.end(0x16)
                    continue
                tag, state = value[0], STATES[value[1]]
                assert 45 <= value[2] <= 65
                if tag in self.queries:
                    self.queries.remove(tag)
                elif tag:
                    assert model.pending and tag == model.pending[2], "an answer to nothing"
                    assert state == model.answered(at), "%s is the answer" % state
                    self.keep(at)
                else:
                    self.unasked(state, at)
            now = self.device.now
            assert not model.pending or now - model.since_asked <= 1, "a code is not answered"
            if self.isConnected:
                assert model.idle is None or now - model.idle <= IDLE[1], "the link is not ended"
                assert model.pending or model.state not in TIMERS or now - model.since <= TIMERS[model.state][1]

        def unasked(self, state, at):
            model = self.model
            assert state in model.possible(at), "%s is shown unasked" % state
            if state != model.state:
                model.state, model.since = state, at
            self.keep(at)

        def keep(self, at):
            self.model.idle = at if self.model.state == "locked" else None

        def end(self, reason):
            """The link is over, for the lock and for its client."""
            self.lock.disconnected(reason, "")
            if self.model.pending:
                # The code came whole, and what came of it is known at once; or it did not.
                self.model.answered(self.device.now)
            self.device.take()
            self.isConnected, self.model.wrong, self.model.idle, self.queries = False, 0, None, set()

        # What is sent.

        def message(self, request, rest=b"", isCut=False):
            self.tag = self.tag % 255 + 1
            message = bytes([self.tag, request]) + rest
            pieces = [message[start:start + 19] for start in range(0, len(message), 19)]
            for piece in pieces[:-1]:
                self.lock.written(b"\x80" + piece)
                self.pass_(AIR)
                if isCut or not self.isConnected:
                    return None
            self.lock.written(b"\x00" + pieces[-1])
            return self.tag

        def pass_(self, seconds):
            self.device.advance(seconds)
            self.look()

        def code(self, request, digits, isRight):
            tag = self.message(request, USER + digits)
            if tag is not None:
                self.model.pending, self.model.since_asked, self.model.idle = (request, isRight, tag), self.device.now, None

        def isReady(self, *states):
            return self.isConnected and not self.model.pending and self.model.state in states

        @precondition(lambda self: not self.isConnected)
        @rule()
        def connect(self):
            def function():
                self.isConnected = True
                self.lock.subscription(True)
            self.event(function)

        @precondition(lambda self: self.isConnected)
        @rule(isLost=st.booleans())
        def disconnect(self, isLost):
            self.event(lambda: self.end(0x08 if isLost else 0x13))

        @precondition(lambda self: self.isReady("locked", "unlocked"))
        @rule()
        def pin(self):
            self.event(lambda: self.code(PIN, b"1234", True))

        @precondition(lambda self: self.isReady("locked"))
        @rule()
        def wrongPin(self):
            self.event(lambda: self.code(PIN, b"0000", False))

        @precondition(lambda self: self.isReady("locked", "unlocked", "shutOut"))
        @rule()
        def master(self):
            self.event(lambda: self.code(MASTER, b"9876", True))

        @precondition(lambda self: self.isReady("locked", "unlocked"))
        @rule()
        def cut(self):
            def function():
                self.message(PIN, USER + b"1234", isCut=True)
                if self.isConnected:
                    self.end(0x08)
            self.event(function)

        @precondition(lambda self: self.isReady("unlocked"))
        @rule()
        def lockIt(self):
            def function():
                self.message(LOCK)
                shown = self.device.take()
                assert [value[:2] for _, _, value in shown] == [bytes([self.tag, 0])], "locking is not answered"
                self.model.state = "locked"
                self.keep(self.device.now)
            self.event(function)

        @precondition(lambda self: self.isConnected)
        @rule()
        def query(self):
            def function():
                self.queries.add(self.message(QUERY))
            self.event(function)

        @rule(seconds=SHORT)
        def moment(self, seconds):
            self.event(lambda: self.device.advance(seconds))

        @rule(seconds=WAITS)
        def wait(self, seconds):
            self.event(lambda: self.device.advance(seconds))

    return Machine
