"""The lock as a program: no Bluetooth, no clock. `after` is all there is to time, so an hour costs nothing.

With the argument `bug` it shuts people out after two wrong codes instead of three.
"""

import sys

import lockstep_device

TRIES = 2 if "bug" in sys.argv[1:] else 3

lock = lockstep_device.Device("NAME", readings=["battery"], moves=["enter", "lock"])


def turn(state, back=None):
    if lock.timer:
        lock.timer.cancel()
    lock.state, lock.wrong = state, 0
    lock.timer = lock.after(back, lambda: turn("locked")) if back else None
    lock.show(state)


@lock.reset
def reset():
    """A test begins."""
    lock.timer = None
    turn("locked")


@lock.stimulus
def enter():
    # What the machine has no row for is refused.
    if lock.state != "locked":
        lock.refuse("it is %s" % lock.state)
    turn("unlocked", back=5)


@lock.stimulus
def enterWrong():
    if lock.state != "locked":
        lock.refuse("it is %s" % lock.state)
    lock.wrong += 1
    if lock.wrong == TRIES:
        return turn("shutOut", back=30)
    if lock.timer:
        lock.timer.cancel()
    lock.timer = lock.after(60, forget)


def forget():
    lock.wrong = 0


@lock.stimulus("lock")
def lockAgain():
    if lock.state != "unlocked":
        lock.refuse("it is %s" % lock.state)
    turn("locked")


@lock.stimulus
def readBattery():
    lock.reading("battery", 5.9)


lock.run()
