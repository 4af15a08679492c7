"""A cabinet lock behind Bluetooth: `python3 lock.py`, or `python3 lock.py bug=NAME` for one of bugs.py.

Its protocol stands in driver.py.
"""

import sys

LOCKED, UNLOCKED, SHUT_OUT = 0, 1, 2
LOCK, PIN, MASTER, QUERY = 1, 2, 3, 4
CODES = {PIN: b"1234", MASTER: b"9876"}
LENGTHS = {LOCK: 2, PIN: 22, MASTER: 22, QUERY: 2}


class Cabinet:
    """A correct lock. Its device has `after`, `notify`, `disconnect` and `now`."""

    tries, relockTime, lockOutTime, idleTime, checkTime = 3, 7, 30, 20, 0.2
    battery = 59

    def __init__(self, device):
        self.device = device

    def reset(self):
        self.state, self.wrong = LOCKED, 0
        self.isSubscribed, self.isEnding, self.buffer, self.check = False, False, b"", None
        self.timer = self.idle = self.checking = None

    # The link.

    def subscription(self, isOn):
        self.isSubscribed = isOn
        if isOn:
            self.tell()

    def disconnected(self, reason, text):
        self.isSubscribed, self.isEnding = False, False
        self.finish()
        self.forgetLink(reason)
        self.stopIdle()

    def forgetLink(self, reason):
        """What does not outlive a link."""
        self.wrong, self.buffer = 0, b""

    def tell(self, tag=0):
        """Tells the client how the lock is: in answer to a request, or unasked."""
        if self.isSubscribed:
            self.device.notify("fff2", bytes([tag, self.state, self.battery]))
        self.stopIdle()
        if self.isSubscribed and self.state == LOCKED:
            self.idle = self.device.after(self.idleTime, self.endLink)

    def endLink(self):
        # What is on its way now would be done behind the client's back.
        self.idle, self.isEnding = None, True
        self.device.disconnect()

    def stopIdle(self):
        if self.idle:
            self.idle.cancel()
        self.idle = None

    # Messages.

    def written(self, fragment):
        if self.isEnding or not fragment or fragment[0] not in (0x00, 0x80) or len(fragment) > 20:
            return
        self.buffer += fragment[1:]
        if fragment[0] == 0x00:
            message, self.buffer = self.buffer, b""
            if len(message) >= 2 and len(message) == LENGTHS.get(message[1]):
                self.perform(message[0], message[1], message[2:])

    def perform(self, tag, request, rest):
        if request == QUERY:
            self.query(tag)
        elif request == LOCK:
            self.lock(tag)
        else:
            self.code(tag, request, rest[16:] == CODES[request])

    def query(self, tag):
        # Not `tell`: a query does not keep the link.
        self.device.notify("fff2", bytes([tag, self.state, self.battery]))

    def lock(self, tag):
        self.turn(LOCKED, tag)

    # Codes: what came of one is known after a while, and at once when the link ends.

    def code(self, tag, request, isRight):
        if self.check or (self.state == SHUT_OUT and request != MASTER):
            return
        self.stop()
        self.stopIdle()
        self.check = (tag, isRight)
        self.checking = self.device.after(self.checkTime, self.finish)

    def finish(self):
        if self.check:
            (tag, isRight), self.check = self.check, None
            self.checking.cancel()
            self.checked(tag, isRight)

    def checked(self, tag, isRight):
        if isRight:
            return self.turn(UNLOCKED, tag)
        self.wrong += 1
        if self.wrong >= self.tries:
            return self.turn(SHUT_OUT, tag)
        self.tell(tag)

    # Its states, and what ends them.

    def turn(self, state, tag=0):
        self.stop()
        self.state, self.wrong = state, 0
        if state == UNLOCKED:
            self.wait(self.relockTime)
        elif state == SHUT_OUT:
            self.wait(self.lockOutTime)
        self.tell(tag)

    def wait(self, seconds):
        self.stop()
        self.due = self.device.now + seconds
        self.timer = self.device.after(seconds, self.timeOut)

    def timeOut(self):
        self.turn(LOCKED)

    def left(self):
        """How long the timer goes on, in seconds."""
        return round(self.due - self.device.now, 9) if self.timer else 0

    def stop(self):
        if self.timer:
            self.timer.cancel()
        self.timer = None


def main(arguments):
    import lockstep_device
    from bugs import lockNamed

    device = lockstep_device.Peripheral(
        "cabinet", advertise={"name": "cabinet", "services": ["fff0"]},
        services={"fff0": {"fff1": ["write"], "fff2": ["notify"]}})
    lock = lockNamed(arguments)(device)
    device.reset(lock.reset)
    device.disconnected(lock.disconnected)
    device.subscription("fff2")(lock.subscription)
    device.written("fff1")(lock.written)
    device.run()


if __name__ == "__main__":
    main(sys.argv[1:])
