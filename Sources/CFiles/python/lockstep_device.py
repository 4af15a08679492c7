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

Values are plain Python: arguments of stimuli and settings arrive so, and readings are given so. JSON has no type for some of
those that a machine file names:

    text, [a, b]    str
    flag            bool
    integer         int
    number          int or float
    hex             str of hexadecimal digits, or bytes: of a reading, and of a parameter that is annotated so (`data: bytes`)
    duration        int or float, in seconds, or datetime.timedelta: of a reading, and of a parameter that is annotated so
    instant         int or float, in seconds since the test began, as `now` has it
    list            list; of a reading also tuple
    map             dict with keys of str: the key 7 arrives as "7", and is given as 7 or "7"
    record          dict
    no value        None, as a part of another value

A `Driver` speaks a lock's protocol over Lockstep's Bluetooth, and a `Peripheral` is a lock behind it; see there.

One file, no dependencies, Python 3.8 or later. The protocol is on the page "A lock as one program".
"""

import datetime
import heapq
import inspect
import json
import math
import os
import random
import select
import sys
import time as clock
import typing

__all__ = ["Device", "Driver", "Peripheral", "Refused", "uuid"]

# What is later never comes, and what is longer is no word to people any more.
_FARTHEST = 4e9
_LONGEST = 8000


def _jsonOf(value):
    """A value for which JSON has no type of its own."""
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    raise TypeError("a value is a bool, int, float, str, bytes, timedelta, list, tuple or dict, and not %r" % (value,))


_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=_jsonOf).encode


def _finite(value):
    """A value in which a text stands for each number that JSON does not have."""
    if isinstance(value, float) and not math.isfinite(value):
        return "not a number"
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, (list, tuple)) else value


# What arguments are made of that JSON has no type for, by the annotations of their parameters.
_CONVERSIONS = {bytes: bytes.fromhex, datetime.timedelta: lambda seconds: datetime.timedelta(seconds=seconds)}


def _conversions(function):
    """The conversions of a function's parameters, by their names."""
    try:
        hints = typing.get_type_hints(function)
    except Exception:
        # An annotation may be anything, and name what is not there.
        return {}
    # Any annotation may be a value that has no hash.
    return {name: make for name, hint in hints.items() for kind, make in _CONVERSIONS.items() if hint is kind}


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
        self._signatures, self._conversions = {}, {}
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

        It is called with the arguments by their names, which are those of the machine: see above for their types. Of a
        machine with variables, generated tests find arguments by themselves.
        """

        def register(function, name=name):
            name = function.__name__ if name is None else name
            self._stimuli[name] = function
            self._signatures[name] = inspect.signature(function)
            self._conversions[name] = _conversions(function)
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
        """Shows a value: a bool, a number, a text, bytes, a timedelta, a list or a dict of such values; see above."""
        try:
            self._show("reading", {name: value})
        except ValueError:
            self._show("reading", {name: _finite(value)})

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
            self._stimuli[name](**self._converted(name, arguments))
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
            self.log("this module does not know the message %s" % _encode(request))

    def _check(self, name, arguments):
        """Refuses arguments that a stimulus does not take."""
        try:
            self._signatures[name].bind(**arguments)
        except TypeError as reason:
            self.refuse("the arguments of '%s': %s" % (name, reason))

    def _converted(self, name, arguments):
        """The arguments of a stimulus with the types by which it has annotated its parameters."""
        conversions = self._conversions[name]
        if not conversions:
            return arguments
        try:
            return {key: conversions[key](value) if key in conversions else value for key, value in arguments.items()}
        except (TypeError, ValueError) as reason:
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


def _secrets():
    """What Lockstep tells this program alone: names and texts."""
    descriptor = os.environ.get("LOCKSTEP_SECRETS_FD")
    if descriptor is None:
        return {}
    with os.fdopen(int(descriptor)) as file:
        return json.load(file)


_BASE = "-0000-1000-8000-00805f9b34fb"


def uuid(text):
    """A UUID as Lockstep tells it, however it is written: four digits where they are enough, else 32 with hyphens. A number
    is a UUID of four digits."""
    digits = "%04x" % text if isinstance(text, int) else str(text).replace("-", "").lower()
    if len(digits) in (4, 8):
        digits = digits.rjust(8, "0") + _BASE.replace("-", "")
    try:
        isRight = len(digits) == 32 and len(bytes.fromhex(digits)) == 16
    except ValueError:
        isRight = False
    if not isRight:
        raise ValueError("a UUID has 4, 8 or 32 hexadecimal digits, and is not %r" % (text,))
    whole = "-".join([digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]])
    return whole[4:8] if whole.startswith("0000") and whole.endswith(_BASE) else whole


def _place(place):
    """A characteristic: its UUID as a text, or the number of its handle."""
    return place if isinstance(place, int) else uuid(place)


class _Radio(Device):
    """What both ends of a link have in common."""

    def __init__(self, name, secrets, more):
        super().__init__(name, "virtual", **more)
        self._hello["secrets"] = list(secrets)
        self._handlers = {}
        # The address of the other end of the link that is up, or was last.
        self.peer = None
        # The texts behind the names that were given with `secrets`.
        self.secrets = _secrets()

    def _operate(self, name, value):
        self._lines.append(_encode({name: value}))

    def hide(self, secret):
        """Has a secret, such as the key of a session, kept out of all that Lockstep writes: bytes, or a text."""
        self._operate("secret", secret.hex() if isinstance(secret, (bytes, bytearray)) else str(secret))

    def disconnect(self):
        """Ends the link, or the attempt at one."""
        self._operate("disconnect", True)

    def connected(self, function):
        """What is done when the link is up; nothing can be asked of it before it is `ready`."""
        return self._on("connected", function)

    def disconnected(self, function):
        """What is done when the link is over: it is called with the reason, as a number and in words.

        `unacknowledged` is then how many packets of this end may not have arrived.
        """
        return self._on("disconnected", function)

    def mtu(self, function):
        """What is done when packets hold more: it is called with the MTU, three more than the bytes that fit a packet."""
        return self._on("mtu", function)

    def _on(self, key, function):
        self._handlers[key] = function
        return function

    def _at(self, kind, place):
        """Registers what is done about one characteristic."""
        return lambda function: self._on((kind, _place(place)), function)

    def _call(self, key, *arguments):
        handler = self._handlers.get(key)
        if handler is not None:
            handler(*arguments)

    def _find(self, kind, event):
        """What is done about the characteristic of an event."""
        for place in (event.get("characteristic"), event.get("handle")):
            if (kind, place) in self._handlers:
                return self._handlers[(kind, place)]
        return lambda *arguments: None

    def _perform(self, request):
        if "mtu" in request:
            return self._call("mtu", request["mtu"])
        if "link" not in request:
            return super()._perform(request)
        if request["link"] == "connected":
            self.peer = request.get("address")
            self._call("connected")
        elif request["link"] == "disconnected":
            self.unacknowledged = request.get("unacknowledged", 0)
            self._call("disconnected", request["reason"], request["text"])


class Driver(_Radio):
    """A lock's protocol over Lockstep's Bluetooth: turns stimuli into operations, and what comes of them into statuses.

        keypad = lockstep_device.Driver("keypad", services=["fff0"], secrets=["pin"])

        @keypad.stimulus
        def approach():
            keypad.scan()

        @keypad.heard
        def heard(advertisement):
            keypad.show("heard")

        @keypad.stimulus
        def connect():
            keypad.connect()

        @keypad.ready
        def ready(services):
            keypad.subscribe("fff2")

        @keypad.notified("fff2")
        def status(value):
            keypad.meaning("status %d" % value[0])       # what is shown beside the packet
            keypad.show("locked" if value[0] == 0 else "unlocked")

        @keypad.stimulus
        def unlock():
            keypad.write("fff1", b"\x02" + keypad.secrets["pin"].encode(), text="unlock")

        keypad.run()

    advertises  the name by which its lock is found where no address is given
    services    the services that it advertises, for the same
    secrets     the names of the secrets that it needs
    requests    what its stimuli ask a lock for, such as {"unlock": "unlock", "approach": "listen"}: a lock that is driven
                by a lock file is spared, parked and managed by that
    meanings    what its statuses say of a lock, such as {"locked": "locked", "gone": "away"}, for the same
    linkFaults  what may be done to the link in generated tests, since the machine knows of it: lose-link, out-of-range,
                no-power, power-cycle
    """

    def __init__(
        self, name=None, advertises=None, services=(), secrets=(), requests=None, meanings=None, linkFaults=(),
        **more
    ):
        super().__init__(name, secrets, more)
        found = {}
        if advertises is not None:
            found["name"] = advertises
        if services:
            found["services"] = [uuid(each) for each in services]
        given = [
            ("advertises", found), ("requests", requests), ("meanings", meanings), ("linkFaults", list(linkFaults)),
        ]
        for key, value in given:
            if value:
                self._hello[key] = value
        self._waiting = []
        # What Lockstep said of the operation that failed last: its characteristic, too.
        self.failure = None

    _role = "driver"

    # What it hears.

    def heard(self, function):
        """What is done when the lock is heard: it is called with what that advertises."""
        return self._on("heard", function)

    def ready(self, function):
        """What is done when the services of a link were found: it is called with them."""
        return self._on("ready", function)

    def notified(self, place):
        """What is done when a characteristic notifies or indicates: it is called with the bytes."""
        return self._at("notified", place)

    def failed(self, function):
        """What is done when an operation cannot be done: it is called with its name, the error in words and, where the
        lock refused it, the error's code. `failure` has all that is known of it, such as the characteristic."""
        return self._on("failed", function)

    # What it does.

    def scan(self, everything=False):
        """Listens for the lock: for the first advertisement and for each that says something else, or for every one."""
        self._operate("scan", "everything" if everything else "changes")

    def stopScanning(self):
        """Listens no more."""
        self._operate("scan", False)

    def connect(self, services=()):
        """Connects to the lock that was heard, and finds some of its services, or all."""
        self._operate("connect", [uuid(each) for each in services] or True)

    def exchangeMTU(self):
        """Has longer values fit a packet, as far as both ends can do that."""
        self._operate("exchangeMTU", True)

    def read(self, place, then):
        """Reads a characteristic: a UUID, or a handle; `then` is called with the bytes."""
        self._ask("read", "read", place, then)
        self._operate("read", _place(place))

    def write(self, place, value, then=None, response=None, text=None):
        """Writes a characteristic, with or without response, or as it has it; `text` says what the packet means."""
        fields = {"to": _place(place), "value": bytes(value).hex()}
        if response is not None:
            fields["response"] = response
        if text is not None:
            fields["text"] = text
        self._ask("write", "wrote", place, then)
        self._operate("write", fields)

    def subscribe(self, place, then=None):
        """Has a characteristic notify, or indicate."""
        self._ask("subscribe", "subscribed", place, then)
        self._operate("subscribe", _place(place))

    def unsubscribe(self, place, then=None):
        """Has a characteristic notify no more."""
        self._ask("unsubscribe", "unsubscribed", place, then)
        self._operate("unsubscribe", _place(place))

    def meaning(self, text):
        """Says what the packet means that it was just told of; what is secret in it is not to be said."""
        self._operate("meaning", text)

    def _ask(self, operation, answer, place, then):
        # Also where nothing is done then: its answer must not be taken for that of a later one.
        self._waiting.append((operation, answer, _place(place), then or (lambda *arguments: None)))

    def _take(self, index, key, event):
        """What waits for the end of an operation."""
        places = (event.get("characteristic"), event.get("handle"))
        for number, waiting in enumerate(self._waiting):
            if waiting[index] == key and waiting[2] in places:
                return self._waiting.pop(number)[3]
        return lambda *arguments: None

    def _perform(self, request):
        if "reset" in request or request.get("link") in ("connected", "disconnected"):
            self._waiting = []
        for key in ("wrote", "subscribed", "unsubscribed"):
            if key in request:
                return self._take(1, key, request[key])()
        if "notified" in request:
            event = request["notified"]
            self._find("notified", event)(bytes.fromhex(event["value"]))
        elif "read" in request:
            self._take(1, "read", request["read"])(bytes.fromhex(request["read"]["value"]))
        elif "heard" in request:
            self._call("heard", request["heard"])
        elif request.get("link") == "ready":
            self._call("ready", request["services"])
        elif "failed" in request:
            event = self.failure = request["failed"]
            self._take(0, event["operation"], event)
            if "failed" in self._handlers:
                self._call("failed", event["operation"], event["error"], event.get("code"))
            else:
                self.log("%s failed: %s" % (event["operation"], event["error"]))
        else:
            super()._perform(request)


class Peripheral(_Radio):
    """A lock behind Lockstep's Bluetooth: a GATT server of whose values this program decides.

        keypad = lockstep_device.Peripheral(
            "keypad", advertise={"name": "Keypad", "services": ["fff0"]},
            services={"fff0": {"fff1": ["write"], "fff2": ["notify"]}})

        @keypad.written("fff1")
        def command(value):
            keypad.isOpen = value[0] == 2
            keypad.notify("fff2", bytes([keypad.isOpen]))

        @keypad.stimulus
        def pressButton():                               # what is done to it by hand
            ...

        keypad.run()

    What the lock itself does it shows with `effect`, `reading`, `event` and `violation`, as its client may hear nothing of
    it: that is compared with the machine too. Statuses are its driver's to show.

    advertise   what it advertises: name, services, manufacturer (hexadecimal digits), interval (seconds), connectable
    services    its services: for each UUID its characteristics, and for each UUID of these its properties (read, write,
                write-without-response, notify, indicate), or a pair of them and the first value
    secrets     the names of the secrets that it needs
    """

    def __init__(self, name=None, advertise=None, services=None, secrets=(), **more):
        super().__init__(name, secrets, more)
        if advertise is not None:
            self._hello["advertise"] = advertise
        self._hello["services"] = [
            {"uuid": uuid(service), "characteristics": [
                self._characteristic(uuid(each), what) for each, what in characteristics.items()]}
            for service, characteristics in (services or {}).items()]

    @staticmethod
    def _characteristic(name, what):
        properties, value = what if isinstance(what, tuple) else (what, b"")
        return {"uuid": name, "properties": list(properties), "value": bytes(value).hex()}

    _role = "peripheral"

    def show(self, status):
        """Not here: the driver shows statuses. What the lock itself does is an effect, a reading or an event."""
        raise TypeError("a peripheral shows no status: its driver does; the lock shows effects, readings and events")

    def written(self, place):
        """What is done when its client writes a characteristic: it is called with the bytes."""
        return self._at("written", place)

    def subscription(self, place):
        """What is done when its client subscribes or does so no more: it is called with whether it does."""
        return self._at("subscription", place)

    def confirmed(self, place):
        """What is done when its client has confirmed an indication."""
        return self._at("confirmed", place)

    def reject(self, code):
        """Refuses the write that it was just told of, if that is one with response: with an error of ATT, of which 0x80
        to 0x9f are a protocol's own. Without it a write is answered as made.
        """
        self._operate("reject", code)

    def set(self, place, value):
        """Gives a characteristic another value, which is read from now on."""
        self._operate("set", {"of": _place(place), "value": bytes(value).hex()})

    def notify(self, place, value):
        """Notifies its client, if that has subscribed."""
        self._operate("notify", {"from": _place(place), "value": bytes(value).hex()})

    def indicate(self, place, value):
        """Indicates to its client, if that has subscribed."""
        self._operate("indicate", {"from": _place(place), "value": bytes(value).hex()})

    def advertise(self, what):
        """Advertises something else from now on, whenever it is not connected; False for nothing."""
        self._operate("advertise", what or False)

    def _perform(self, request):
        if "written" in request:
            event = request["written"]
            self._find("written", event)(bytes.fromhex(event["value"]))
        elif "subscription" in request:
            event = request["subscription"]
            self._find("subscription", event)(event["notifications"] or event["indications"])
        elif "confirmed" in request:
            self._find("confirmed", request["confirmed"])()
        else:
            super()._perform(request)
