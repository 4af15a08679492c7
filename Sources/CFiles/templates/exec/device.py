"""The lock as a program: no Bluetooth, no clock. `after` is all there is to time, so an hour costs nothing.

With the argument `bug` it shuts people out after two wrong codes instead of three.
"""

import sys

import lockstep_device

TRIES = 2 if "bug" in sys.argv[1:] else 3

lock = lockstep_device.Device("NAME", effects=True, readings=["log"], moves=["enter", "lock"])


@lock.reset
def reset():
    """A test begins."""
    lock.codes = {"anna": "1234", "bob": "2468"}
    lock.wrong = 0
    lock.entries = []
    lock.timer = None
    turn("locked")


def turn(state, back=None):
    if lock.timer:
        lock.timer.cancel()
    lock.state = state
    lock.timer = lock.after(back, lambda: turn("locked")) if back else None
    lock.show(state)


def record(user, event):
    lock.entries.insert(0, {"user": user, "event": event, "time": lock.now})
    del lock.entries[10:]


@lock.stimulus
def enter(user, code):
    # What the machine has no row for is refused.
    if lock.state != "locked":
        lock.refuse("it is %s" % lock.state)
    if code == lock.codes[user]:
        lock.wrong = 0
        record(user, "opened")
        return turn("unlocked", back=5)
    lock.wrong += 1
    record(user, "refused")
    if lock.wrong < TRIES:
        return lock.effect("buzz")
    lock.wrong = 0
    turn("shutOut", back=30)


@lock.stimulus
def change(user, old, new):
    if lock.state != "unlocked":
        lock.refuse("it is %s" % lock.state)
    if old == lock.codes[user] and len(new) >= 4:
        lock.codes[user] = new
        lock.effect("done")
    else:
        lock.effect("denied")


@lock.stimulus("lock")
def lockAgain():
    if lock.state != "unlocked":
        lock.refuse("it is %s" % lock.state)
    turn("locked")


@lock.stimulus
def readLog():
    lock.reading("log", lock.entries)


lock.run()
