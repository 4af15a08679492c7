"""A cabinet lock with a keypad, as one program: `python3 lock.py`, or `python3 lock.py bug=NAME` for one of bugs.py.

What it can be asked for are its methods; cabinet.yaml says what each may lead to.
"""

import functools
import sys

STIMULI = [
    "pin", "wrongPin", "master", "lock", "hold", "release", "query", "readBattery", "openDoor", "closeDoor", "powerCycle",
]


class Cabinet:
    """A correct lock. Its device has `after`, `show`, `effect`, `reading`, `refuse` and `now`."""

    tries, relockTime, lockOutTime, boltTime = 3, 7, 30, 0.5

    def __init__(self, device):
        self.device = device

    def reset(self):
        self.timer, self.isWeak, self.isDoorOpen, self.wrong = None, False, False, 0
        self.turn("locked")

    def ask(self, request):
        getattr(self, request)()
        self.asked(request)

    def asked(self, request):
        """What follows a request that was not refused."""

    # Its states, and what ends them.

    def turn(self, state):
        self.cancel()
        self.state = state
        self.device.show(state)
        self.begin(state)

    def begin(self, state):
        """Starts the timer of a state."""
        if state == "unlocked":
            self.wait(self.relockTime, self.relock)
        elif state == "locking":
            self.wait(self.boltTime, lambda: self.turn("locked"))
        elif state == "shutOut":
            self.wait(self.lockOutTime, self.endLockOut)

    def wait(self, seconds, action):
        self.cancel()
        self.due = self.device.now + seconds
        self.timer = self.device.after(seconds, action)

    def left(self):
        """How long the timer goes on, in seconds."""
        return round(self.due - self.device.now, 9) if self.timer else 0

    def cancel(self):
        if self.timer:
            self.timer.cancel()
        self.timer = None

    def relock(self):
        self.turn("locking")

    def endLockOut(self):
        self.turn("locked")

    def need(self, *states):
        if self.state not in states:
            self.device.refuse("it is %s" % self.state)

    # Codes.

    def pin(self):
        self.need("locked", "unlocked", "locking")
        self.unlock()

    def master(self):
        self.need("locked", "unlocked", "locking", "shutOut")
        self.unlock()

    def unlock(self):
        self.wrong = 0
        self.turn("unlocked")

    def wrongPin(self):
        self.need("locked")
        self.wrong += 1
        if self.wrong >= self.tries:
            self.wrong = 0
            self.turn("shutOut")
        self.device.effect("buzz")

    # Buttons.

    def lock(self):
        self.need("unlocked")
        self.turn("locking")

    def hold(self):
        self.need("unlocked", "open")
        if self.isWeak:
            self.device.refuse("the battery is weak")
        self.turn("held")

    def release(self):
        self.need("held")
        self.turn("open" if self.isDoorOpen else "unlocked")

    # The door.

    def openDoor(self):
        self.need("unlocked", "locking", "held")
        if self.isDoorOpen:
            self.device.refuse("it is open")
        self.isDoorOpen = True
        self.turn("held" if self.state == "held" else "open")

    def closeDoor(self):
        if not self.isDoorOpen:
            self.device.refuse("it is closed")
        self.isDoorOpen = False
        self.turn("held" if self.state == "held" else "unlocked")

    # Questions, and power.

    def query(self):
        self.device.show(self.state)

    def readBattery(self):
        self.device.reading("battery", self.voltage())
        self.device.effect("batteryWeak" if self.isWeak else "batteryGood")

    def voltage(self):
        return 4.8 if self.isWeak else 5.9

    def weak(self, isOn):
        """A fault: the battery is exchanged for a weak one, or for a good one."""
        self.isWeak = isOn

    def powerCycle(self):
        self.wrong = 0
        self.turn("shutOut" if self.state == "shutOut" else "open" if self.isDoorOpen else "locked")


def main(arguments):
    import lockstep_device
    from bugs import lockNamed

    device = lockstep_device.Device(
        "cabinet", effects=True, readings=["battery"], moves=["pin", "master", "lock", "closeDoor"])
    lock = lockNamed(arguments)(device)
    device.reset(lock.reset)
    for name in STIMULI:
        device.stimulus(name)(functools.partial(lock.ask, name))
    device.fault("weak")(lock.weak)
    device.run()


if __name__ == "__main__":
    main(sys.argv[1:])
