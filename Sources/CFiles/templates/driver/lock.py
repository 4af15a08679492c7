"""The lock, as a program behind Lockstep's Bluetooth: your twin until there is firmware, and your app's test bench.

With the argument `bug` it shuts people out after two wrong codes instead of three.
"""

import sys

import lockstep_device

LOCKED, UNLOCKED, SHUT_OUT = 0, 1, 2
CODE = b"1234"
TRIES = 2 if "bug" in sys.argv[1:] else 3

lock = lockstep_device.Peripheral(
    "NAME", advertise={"name": "NAME", "services": ["fff0"]},
    services={"fff0": {"fff1": ["write"], "fff2": ["notify"]}})


@lock.reset
def reset():
    lock.state, lock.wrong, lock.isSubscribed = LOCKED, 0, False
    lock.timer = lock.idle = None


def cancel(timer):
    if timer:
        timer.cancel()


def tell():
    """Tells the client how the lock is, and waits for it to say something."""
    if lock.isSubscribed:
        lock.notify("fff2", bytes([lock.state]))
    cancel(lock.idle)
    lock.idle = lock.after(20, lock.disconnect) if lock.isSubscribed and lock.state == LOCKED else None


def turn(state, back=None):
    lock.state, lock.wrong = state, 0
    cancel(lock.timer)
    lock.timer = lock.after(back, lambda: turn(LOCKED)) if back else None
    tell()


@lock.subscription("fff2")
def subscription(isOn):
    lock.isSubscribed = isOn
    if isOn:
        tell()


@lock.disconnected
def disconnected(reason, text):
    lock.isSubscribed, lock.wrong = False, 0
    cancel(lock.idle)


@lock.written("fff1")
def written(message):
    if message == b"\x01":
        # It may have locked by itself while this was on its way: that was said already.
        if lock.state == UNLOCKED:
            turn(LOCKED)
    elif message[:1] == b"\x02" and len(message) == 1 + len(CODE) and lock.state == LOCKED:
        if message[1:] == CODE:
            return turn(UNLOCKED, 5)
        lock.wrong += 1
        if lock.wrong == TRIES:
            return turn(SHUT_OUT, 30)
        tell()
    # Whatever else is written means nothing to a correct lock.


lock.run()
