"""The cabinet lock as Hypothesis tests it: a rule for each request, and a model of what each must lead to."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

import measure
import virtual

bugs = measure.load("cabinet")

# Around the timers of the lock, and anything else up to a minute.
TIMES = [0.01, 0.1, 0.25, 0.4, 0.5, 1, 3, 6, 6.5, 6.9, 6.95, 6.99, 7, 7.5, 20, 25, 29, 29.9, 29.99, 30, 31]
WAITS = st.one_of(st.sampled_from(TIMES), st.integers(1, 60_000).map(lambda milliseconds: milliseconds / 1000))

# How long a state lasts, at the least and at the most, and what comes then.
TIMERS = {"unlocked": (7, 7, "locking"), "locking": (0.4, 0.6, "locked"), "shutOut": (29.9, 30.1, "locked")}


class Model:
    """What the lock must do. It is driven by what was asked for, and checked against what was shown."""

    def __init__(self):
        self.wrong, self.isDoorOpen, self.isWeak = 0, False, False
        self.enter("locked", 0)

    def enter(self, state, now):
        self.state, self.since = state, now

    def allows(self, request):
        state, isOpen = self.state, self.isDoorOpen
        return {
            "pin": state in ("locked", "unlocked", "locking"),
            "master": state in ("locked", "unlocked", "locking", "shutOut"),
            "wrongPin": state == "locked",
            "lock": state == "unlocked",
            "hold": state in ("unlocked", "open") and not self.isWeak,
            "release": state == "held",
            "openDoor": state in ("unlocked", "locking", "held") and not isOpen,
            "closeDoor": isOpen,
        }.get(request, True)

    def ask(self, request, now):
        """The status, and the effects, that a request must lead to."""
        effects = []
        if request in ("pin", "master"):
            self.wrong = 0
            self.enter("unlocked", now)
        elif request == "wrongPin":
            self.wrong += 1
            effects = ["buzz"]
            if self.wrong == 3:
                self.wrong = 0
                self.enter("shutOut", now)
        elif request == "lock":
            self.enter("locking", now)
        elif request == "hold":
            self.enter("held", now)
        elif request == "release":
            self.enter("open" if self.isDoorOpen else "unlocked", now)
        elif request == "openDoor":
            self.isDoorOpen = True
            self.enter("held" if self.state == "held" else "open", now)
        elif request == "closeDoor":
            self.isDoorOpen = False
            self.enter("held" if self.state == "held" else "unlocked", now)
        elif request == "readBattery":
            effects = ["batteryWeak" if self.isWeak else "batteryGood"]
        elif request == "powerCycle":
            self.wrong = 0
            self.enter("shutOut" if self.state == "shutOut" else "open" if self.isDoorOpen else "locked", now)
        return self.state, effects

    def passes(self, shown, now):
        """Time has passed: each change has come in its time, and none is late."""
        for at, kind, value in shown:
            assert kind == "status" and self.state in TIMERS, "%s is shown unasked" % value
            earliest, latest, then = TIMERS[self.state]
            lasted = at - self.since
            assert value == then and earliest - 1e-6 <= lasted <= latest + 1e-6, "%s after %g s" % (value, lasted)
            self.enter(value, at)
        if self.state in TIMERS:
            assert now - self.since <= TIMERS[self.state][1] + 1e-6, "%s lasts too long" % self.state


def machine(bug, count):
    make = bugs.lockNamed(["bug=" + bug] if bug else [])

    class Machine(RuleBasedStateMachine):
        def __init__(self):
            super().__init__()
            self.device = virtual.Device()
            self.lock, self.model, self.length = make(self.device), Model(), 0
            self.lock.reset()
            self.device.take()

        def check(self, function):
            count.event()
            self.length += 1
            try:
                function()
            except AssertionError:
                count.failed(self.length)
                raise

        def ask(self, request):
            self.check(lambda: self.compare(request))

        def compare(self, request):
            isAllowed = self.model.allows(request)
            before = self.model.state
            try:
                self.lock.ask(request)
            except virtual.Refused:
                assert not isAllowed, "%s is refused" % request
                return
            assert isAllowed, "%s is obeyed" % request
            status, effects = self.model.ask(request, self.device.now)
            shown = self.device.take()
            statuses = [value for _, kind, value in shown if kind == "status"]
            assert statuses == [status] or (not statuses and status == before), "it shows %s, not %s" % (statuses, status)
            assert [value for _, kind, value in shown if kind == "effect"] == effects
            assert all(4.5 <= value <= 6.5 for _, kind, value in shown if kind == "battery")

        @precondition(lambda self: self.model.allows("pin"))
        @rule()
        def pin(self):
            self.ask("pin")

        @precondition(lambda self: self.model.allows("wrongPin"))
        @rule()
        def wrongPin(self):
            self.ask("wrongPin")

        @precondition(lambda self: self.model.allows("master"))
        @rule()
        def master(self):
            self.ask("master")

        @precondition(lambda self: self.model.allows("lock"))
        @rule()
        def lockIt(self):
            self.ask("lock")

        @precondition(lambda self: self.model.allows("hold"))
        @rule()
        def hold(self):
            self.ask("hold")

        @precondition(lambda self: self.model.allows("release"))
        @rule()
        def release(self):
            self.ask("release")

        @precondition(lambda self: self.model.allows("openDoor"))
        @rule()
        def openDoor(self):
            self.ask("openDoor")

        @precondition(lambda self: self.model.allows("closeDoor"))
        @rule()
        def closeDoor(self):
            self.ask("closeDoor")

        @rule()
        def query(self):
            self.ask("query")

        @rule()
        def readBattery(self):
            self.ask("readBattery")

        @rule()
        def powerCycle(self):
            self.ask("powerCycle")

        @rule(request=st.sampled_from(
            ["pin", "wrongPin", "master", "lock", "hold", "release", "openDoor", "closeDoor"]))
        def refused(self, request):
            if not self.model.allows(request):
                self.ask(request)

        @rule(isOn=st.booleans())
        def weak(self, isOn):
            count.event()
            self.length += 1
            self.lock.weak(isOn)
            self.model.isWeak = isOn

        @rule(seconds=WAITS)
        def wait(self, seconds):
            self.device.advance(seconds)
            self.check(lambda: self.model.passes(self.device.take(), self.device.now))

    return Machine
