"""The lock, as a program behind Lockstep's Bluetooth: your twin until there is firmware, and your app's test bench.

With the argument `bug` it shuts people out after two wrong codes instead of three.
"""

import sys

import lockstep_device

LOCKED, UNLOCKED, SHUT_OUT = 0, 1, 2
OPENED, REFUSED = 0, 1
TRIES = 2 if "bug" in sys.argv[1:] else 3

lock = lockstep_device.Peripheral(
    "NAME", advertise={"name": "NAME", "services": ["fff0"]},
    services={"fff0": {"fff1": ["write"], "fff2": ["notify"]}})


@lock.reset
def reset():
    lock.state, lock.wrong, lock.isSubscribed = LOCKED, 0, False
    lock.codes = [b"1234", b"2468"]
    lock.entries = []
    lock.timer = lock.idle = None


def cancel(timer):
    if timer:
        timer.cancel()


def tell(*more):
    """Tells the client how the lock is, and waits for it to say something."""
    if lock.isSubscribed:
        lock.notify("fff2", bytes([lock.state, *more]))
    cancel(lock.idle)
    lock.idle = lock.after(20, lock.disconnect) if lock.isSubscribed and lock.state == LOCKED else None


def turn(state, back=None):
    lock.state = state
    cancel(lock.timer)
    lock.timer = lock.after(back, lambda: turn(LOCKED)) if back else None
    tell()


def record(user, event):
    lock.entries.insert(0, user << 1 | event)
    del lock.entries[10:]


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
    kind, rest = message[:1], message[1:]
    if kind == b"\x01" and not rest:
        # It may have locked by itself while this was on its way: that was said already.
        if lock.state == UNLOCKED:
            turn(LOCKED)
    elif lock.state == LOCKED and kind == b"\x02" and rest[:1] in (b"\x00", b"\x01"):
        enter(rest[0], rest[1:])
    elif lock.state == LOCKED and kind == b"\x03" and rest[:1] in (b"\x00", b"\x01") and rest[1:]:
        change(rest[0], rest[2:2 + rest[1]], rest[2 + rest[1]:])
    elif lock.state == LOCKED and kind == b"\x04" and not rest:
        tell(4, *lock.entries)
    # Whatever else is written means nothing to a correct lock.


def enter(user, code):
    if code == lock.codes[user]:
        lock.wrong = 0
        record(user, OPENED)
        return turn(UNLOCKED, 5)
    lock.wrong += 1
    record(user, REFUSED)
    if lock.wrong < TRIES:
        return tell()
    lock.wrong = 0
    turn(SHUT_OUT, 30)


def change(user, old, new):
    isAllowed = old == lock.codes[user] and 4 <= len(new) <= 8
    if isAllowed:
        lock.codes[user] = new
    tell(3, isAllowed)


lock.run()
