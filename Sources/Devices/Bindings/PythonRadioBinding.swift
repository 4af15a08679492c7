extension Binding {
  /// The part of ``python`` that is about Bluetooth: drivers and peripherals.
  static let pythonRadio = #"""
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
            """What is done when the link is over: it is called with the reason, as a number and in words."""
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
                    by a lock file is spared, parked and looked after by that
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
    """#
}
