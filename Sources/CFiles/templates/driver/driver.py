"""The client's side of the lock's protocol: turns stimuli into GATT operations, and what comes of them into statuses.

It does no I/O of its own and reads no clock, so the same file drives lock.py on Lockstep's radio and the real lock over a
dongle. Messages to the lock (characteristic fff1): 01 locks; 02, a user and a code open it; 03, a user, the length of the
old code, the old one and the new one change a code; 04 asks for the log. From it (fff2): how it is, and after it, if that
answers a message, 03 and whether the code was changed, or 04 and the log, a byte for each entry.
"""

import lockstep_device

STATES = ["locked", "unlocked", "shutOut"]
USERS, EVENTS = ["anna", "bob"], ["opened", "refused"]

driver = lockstep_device.Driver(
    "NAME", effects=True, readings=["log"],
    # How the lock is found where no address is known.
    services=["fff0"],
    # The event of the machine that this driver reports, and what may be done to the link in generated tests because of it.
    reports=["linkLost"], linkFaults=["lose-link"],
    # For a real lock: what its stimuli ask for, what its statuses mean, and what moves its motor. See the lock file.
    requests={
        "approach": "listen", "connect": "connect", "leave": "leave", "lock": "lock", "enter": "unlock",
    },
    meanings={
        "away": "away", "heard": "heard", "connecting": "underWay", "checking": "proving", "locked": "locked",
        "unlocked": "unlocked", "shutOut": "locked",
    },
    moves=["lock", "enter"])


def show(status):
    driver.status = status
    driver.show(status)


@driver.reset
def reset():
    """A test begins: nothing is connected."""
    show("away")


@driver.stimulus
def approach():
    if driver.status != "away":
        driver.refuse("it is %s" % driver.status)
    driver.scan()


@driver.heard
def heard(advertisement):
    driver.stopScanning()
    show("heard")


@driver.stimulus
def connect():
    if driver.status != "heard":
        driver.refuse("it is %s" % driver.status)
    driver.connect(["fff0"])
    show("connecting")


@driver.ready
def ready(services):
    # A client that subscribes gets the state of the lock.
    driver.subscribe("fff2")


@driver.notified("fff2")
def notified(value):
    # What a packet means stands beside it in the report of a test that failed.
    driver.meaning("it is %s" % STATES[value[0]])
    if value[1:2] == b"\x03":
        driver.effect("done" if value[2] else "denied")
    elif value[1:2] == b"\x04":
        entries = [{"user": USERS[entry >> 1], "event": EVENTS[entry & 1]} for entry in value[2:]]
        driver.reading("log", entries)
    show(STATES[value[0]])


def send(message, text, status):
    if driver.status != status:
        driver.refuse("it is %s" % driver.status)
    driver.write("fff1", message, text=text)
    show("checking")


@driver.stimulus
def enter(user, code):
    send(bytes([2, USERS.index(user)]) + code.encode(), "enter the code of %s" % user, "locked")


@driver.stimulus
def change(user, old, new):
    message = bytes([3, USERS.index(user), len(old.encode())]) + old.encode() + new.encode()
    send(message, "change the code of %s" % user, "locked")


@driver.stimulus
def readLog():
    send(b"\x04", "read the log", "locked")


@driver.stimulus
def lock():
    send(b"\x01", "lock", "unlocked")


@driver.stimulus
def leave():
    driver.stopScanning()
    driver.disconnect()
    if driver.status != "away":
        show("away")


@driver.fault(level="messages", values=["empty", "unknown", "cut", "tail", "long"])
def malformed(kind):
    """Writes what means nothing to a correct lock. Generated tests do so too, at the level of messages."""
    if driver.status in STATES:
        message = {
            "empty": b"", "unknown": b"\x7f", "cut": b"\x02", "tail": b"\x041", "long": bytes(200),
        }[kind]
        driver.write("fff1", message, text="malformed: %s" % kind)


@driver.disconnected
def disconnected(reason, text):
    if driver.status == "away":
        return
    # 0x13: the lock has ended it. Whatever else it is, the air has lost it.
    if reason != 0x13:
        driver.event("linkLost", text)
    show("away")


driver.run()
