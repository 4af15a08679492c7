"""The client's side of the lock's protocol: turns stimuli into GATT operations, and what comes of them into statuses.

It does no I/O of its own and reads no clock, so the same file drives lock.py on Lockstep's radio and the real lock over a
dongle. Messages to the lock (characteristic fff1): 01 locks, 02 and a code unlock. From it (fff2): how it is.
"""

import lockstep_device

RIGHT, WRONG = b"1234", b"0000"
STATES = ["locked", "unlocked", "shutOut"]

driver = lockstep_device.Driver(
    "NAME",
    # How the lock is found where no address is known.
    services=["fff0"],
    # The event of the machine that this driver reports, and what may be done to the link in generated tests because of it.
    reports=["linkLost"], linkFaults=["lose-link"],
    # For a real lock: what its stimuli ask for, what its statuses mean, and what moves its motor. See the lock file.
    requests={
        "approach": "listen", "connect": "connect", "leave": "leave", "lock": "lock", "unlock": "unlock",
    },
    meanings={
        "away": "away", "heard": "heard", "connecting": "underWay", "checking": "proving", "locked": "locked",
        "unlocked": "unlocked", "shutOut": "moved",
    },
    moves=["lock", "unlock"])


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
    show(STATES[value[0]])


def send(message, text, status):
    if driver.status != status:
        driver.refuse("it is %s" % driver.status)
    driver.write("fff1", message, text=text)
    show("checking")


@driver.stimulus
def unlock():
    send(b"\x02" + RIGHT, "unlock", "locked")


@driver.stimulus
def unlockWrong():
    send(b"\x02" + WRONG, "unlock, with a wrong code", "locked")


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
            "empty": b"", "unknown": b"\x7f", "cut": b"\x02" + RIGHT[:2], "tail": b"\x02" + RIGHT + b"5",
            "long": bytes(200),
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
