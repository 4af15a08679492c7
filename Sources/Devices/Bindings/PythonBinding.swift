extension Binding {
  /// One module without dependencies.
  static let python = [pythonDevice, pythonRadio].joined(separator: "\n\n\n") + "\n"

  private static let pythonDevice = #"""
    """A program as a device for Lockstep: what it does is yours, and the lines between the two are here.

        import lockstep_device

        door = lockstep_device.Device("door", time="virtual")

        @door.reset
        def reset():
            door.isOpen = False
            door.show("Closed")

        @door.stimulus
        def Open():
            if door.isOpen:
                door.refuse("it is open")
            door.isOpen = True
            door.show("Opened")
            door.after(5.0, shut)          # it shuts by itself

        def shut():
            door.isOpen = False
            door.show("Closed")

        door.run()

    In virtual time a program has no clock: `now` is what Lockstep says, and `after` is all there is to time. Then an hour
    costs nothing, and one seed gives one trace; draw chances from `random` of the device. With time="real" the same program
    lives by the clock.

    Standard output is for answers. What is printed goes to the standard error, which Lockstep keeps with the run: from `run`
    on, and from the import of this module on where Lockstep has started the program. Print nothing before that import.

    A `Driver` speaks a lock's protocol over Lockstep's Bluetooth, and a `Peripheral` is a lock behind it; see there.

    One file, no dependencies, Python 3.8 or later. The protocol is on the page "A lock as one program".
    """

    import heapq
    import inspect
    import json
    import math
    import os
    import random
    import select
    import sys
    import time as clock

    __all__ = ["Device", "Driver", "Peripheral", "Refused", "uuid"]

    # What is later never comes, and what is longer is no word to people any more.
    _FARTHEST = 4e9
    _LONGEST = 8000

    _encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


    def _takeOutput():
        """Takes the standard output for answers. What is printed must not come between them, nor after the case in which it
        was printed: it goes to the standard error."""
        output = os.dup(1)
        os.dup2(2, 1)
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(line_buffering=True)
        return output


    # Where Lockstep has started the program, it says so; who tests a lock in Python keeps the standard output. Programs that this
    # one starts are not meant.
    _output = _takeOutput() if os.environ.pop("LOCKSTEP_DRIVES", None) else None


    class Refused(Exception):
        """Raised by `Device.refuse`: what was asked for is not done, and why."""


    class Timer:
        """Something that is done later, unless it is cancelled."""

        __slots__ = ("due", "number", "action")

        def __init__(self, due, number, action):
            self.due, self.number, self.action = due, number, action

        def __lt__(self, other):
            return (self.due, self.number) < (other.due, other.number)

        def cancel(self):
            """Does nothing when it is over, or was cancelled before."""
            self.action = None


    class Device:
        """A device that is driven line by line.

        name        what it calls itself
        time        "virtual", or "real": see above
        effects     whether it shows effects, beside statuses
        readings    the names of the values that it reports
        conditions  the conditions of the machine that always hold with it
        reports     the events of the machine that it reports
        moves       the stimuli that set something in motion that wears; those of a Sesame lock unless given
        """

        def __init__(
            self, name=None, time="virtual", effects=False, readings=(), conditions=(), reports=(), moves=None
        ):
            if time not in ("virtual", "real"):
                raise ValueError("time is 'virtual' or 'real', and not %r" % (time,))
            self.random = random.Random(0)
            self._isVirtual = time == "virtual"
            self._hello = {"protocol": 2, "time": time, "effects": bool(effects)}
            for key, value in [
                ("name", name), ("readings", list(readings)), ("conditions", list(conditions)),
                ("reports", list(reports)), ("moves", None if moves is None else list(moves)),
            ]:
                if value is not None:
                    self._hello[key] = value
            self._stimuli, self._faults, self._arguments, self._offers = {}, {}, {}, {}
            self._signatures = {}
            self._reset = lambda **start: None
            self._timers, self._numbers, self._lines = [], 0, []
            # Times are whole nanoseconds: added up in floating point, a timer would miss its moment by nothing.
            self._now, self._epoch, self._isAdvancing, self._hasShown = 0, 0, False, False

        # What a user's program says of itself.

        def reset(self, function):
            """What begins a test; its parameters are the settings that a test can start with."""
            self._reset = function
            parameters = inspect.signature(function).parameters.values()
            if all(item.kind is not item.VAR_KEYWORD for item in parameters):
                self._hello["settings"] = [item.name for item in parameters]
            return function

        def stimulus(self, name=None, arguments=()):
            """What is done when a stimulus is given: `@device.stimulus`, `@device.stimulus("a name")`, or with the
            arguments that generated tests give, the simplest first: `@device.stimulus(arguments=[{"code": "1234"}])`.
            """

            def register(function, name=name):
                name = function.__name__ if name is None else name
                self._stimuli[name] = function
                self._signatures[name] = inspect.signature(function)
                if arguments:
                    self._arguments[name] = list(arguments)
                return function

            return register(name, None) if callable(name) else register

        def fault(self, name=None, values=(True, False), level="events"):
            """What is done when a fault is brought about: it is called with its value."""

            def register(function, name=name):
                name = function.__name__ if name is None else name
                self._faults[name] = function
                self._offers[name] = {"level": level, "values": list(values)}
                return function

            return register(name, None) if callable(name) else register

        # What it does.

        @property
        def now(self):
            """The seconds since the test began."""
            return self._time() / 1e9

        def _time(self):
            return self._now if self._isVirtual else clock.monotonic_ns() - self._epoch

        def after(self, seconds, action):
            """Does something later; the timer that comes back can be cancelled."""
            self._numbers += 1
            due = self._time() + round(min(max(seconds, 0), _FARTHEST) * 1e9)
            timer = Timer(due, self._numbers, action)
            heapq.heappush(self._timers, timer)
            return timer

        def show(self, status):
            """Shows a status."""
            self._show("status", status)

        def effect(self, name):
            """Shows an effect of the machine."""
            self._show("effect", name)

        def reading(self, name, value):
            """Shows a value: true, false, a number or a text."""
            if isinstance(value, float) and not math.isfinite(value):
                value = "not a number"
            self._show("reading", {name: value})

        def event(self, name, detail=""):
            """Reports an event that happened to it, such as a lost link."""
            self._show("event", name, {"detail": detail})

        def violation(self, rule, detail="", of=None):
            """Says that a rule of a protocol was broken, which ends the test."""
            self._show("violation", rule, {"detail": detail} if of is None else {"of": of, "detail": detail})

        def log(self, text):
            """Says something to people."""
            self._lines.append(_encode({"log": str(text)[:_LONGEST]}))
            if not self._isVirtual and not self._isAsked:
                self._flush()

        def refuse(self, reason):
            """Does not do what is asked for."""
            raise Refused(reason)

        def _show(self, kind, value, more=None):
            line = {kind: value}
            if more:
                line.update(more)
            if self._isAdvancing:
                line["at"] = self._now / 1e9
            self._lines.append(_encode(line))
            self._hasShown = True

        # The lines.

        _isAsked = False
        _role = "device"

        def run(self):
            """Answers until there is nothing more to answer."""
            self._output = _takeOutput() if _output is None else _output
            pending = b""
            while True:
                if not self._isVirtual and not self._wait():
                    continue
                piece = os.read(0, 65536)
                if not piece:
                    return
                *lines, pending = (pending + piece).split(b"\n")
                for line in lines:
                    self._answer(json.loads(line))

        def _wait(self):
            """Waits for a line or a timer, by the clock; whether there is a line."""
            due = self._next()
            ready, _, _ = select.select([0], [], [], None if due is None else max(0, due - self._time()) / 1e9)
            if ready:
                return True
            self._fire(self._time())
            self._flush()
            return False

        def _answer(self, request):
            self._isAsked = True
            if "at" in request:
                self._now = round(request["at"] * 1e9)
            role = request.get("hello", {}).get("role", "device")
            isOther = role not in ("device", self._role)
            if "hello" in request and not isOther:
                hello = dict(self._hello, stimuli=list(self._stimuli), faults=self._offers, arguments=self._arguments)
                self._lines.append(_encode({"hello": hello}))
            end = {"settled": True}
            try:
                if isOther:
                    self.refuse("this program is a %s, and is used as a %s" % (self._role, role))
                if "advance" in request:
                    self._advance(self._now + round(request["advance"] * 1e9))
                else:
                    self._perform(request)
            except Refused as reason:
                end = {"refused": str(reason)}
            if "advance" not in request:
                self._fire(self._time())
            if self._isVirtual:
                due = self._next()
                end["next"] = None if due is None else due / 1e9
            self._lines.append(_encode(end))
            self._flush()
            self._isAsked = False

        def _perform(self, request):
            if "stimulus" in request:
                name = request["stimulus"]
                if name not in self._stimuli:
                    self.refuse("there is no stimulus '%s'" % name)
                arguments = request.get("arguments", {})
                self._check(name, arguments)
                self._stimuli[name](**arguments)
            elif "fault" in request:
                name = request["fault"]
                if name not in self._faults:
                    self.refuse("there is no fault '%s'" % name)
                self._faults[name](request.get("value", True))
            elif "reset" in request:
                self._timers, self._now, self._epoch = [], 0, clock.monotonic_ns()
                self.random.seed(request.get("seed", 0))
                start = request["reset"]
                strange = [name for name in start if name not in self._hello.get("settings", start)]
                if strange:
                    self.refuse("there is no setting '%s'" % strange[0])
                self._reset(**start)
            else:
                self.log("this module does not know what it is told: %s" % _encode(request))

        def _check(self, name, arguments):
            """Refuses arguments that a stimulus does not take."""
            try:
                self._signatures[name].bind(**arguments)
            except TypeError as reason:
                self.refuse("the arguments of '%s': %s" % (name, reason))

        def _next(self):
            """When the next timer is due; None where there is none."""
            while self._timers and self._timers[0].action is None:
                heapq.heappop(self._timers)
            return self._timers[0].due if self._timers else None

        def _fire(self, limit):
            """Does what is due by now."""
            due = self._next()
            while due is not None and due <= limit:
                try:
                    heapq.heappop(self._timers).action()
                except Refused:
                    # Nobody asked for what a timer does.
                    pass
                due = self._next()

        def _advance(self, limit):
            """Lets time pass, up to the first moment at which something is shown."""
            self._isAdvancing, self._hasShown = True, False
            due = self._next()
            while due is not None and due <= limit and not self._hasShown:
                self._now = max(self._now, due)
                self._fire(due)
                due = self._next()
            if not self._hasShown:
                self._now = limit
            self._isAdvancing = False

        def _flush(self):
            data = ("\n".join(self._lines) + "\n").encode() if self._lines else b""
            self._lines = []
            while data:
                data = data[os.write(self._output, data):]
    """#
}
