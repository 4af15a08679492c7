"""The client's side of the lock's protocol. It reads no clock, so it drives lock.py and a real lock alike.

A message is a tag, what is asked for, and what goes with it; it is cut into fragments of 20 bytes, of which each but the
last begins with 80. An answer is the tag, how the lock is, and its battery in tenths of a volt. Tag 0 is told unasked.
"""

import lockstep_device

LOCK, PIN, MASTER, QUERY = 1, 2, 3, 4
USER = b"cabinet-user-001"
STATES = ["locked", "unlocked", "shutOut"]

driver = lockstep_device.Driver(
    "cabinet", services=["fff0"], readings=["battery"], reports=["linkLost"], linkFaults=["lose-link"],
    moves=["pin", "master", "lock"])


def show(status):
    driver.status = status
    driver.show(status)


@driver.reset
def reset():
    forget()
    driver.tag = 0
    show("away")


def forget():
    """What was to be sent belongs to a link."""
    driver.queue, driver.isSending, driver.isAsking, driver.awaited = [], False, False, None


@driver.stimulus
def approach():
    need("away")
    driver.scan()


@driver.heard
def heard(advertisement):
    driver.stopScanning()
    show("heard")


@driver.stimulus
def connect():
    need("heard")
    driver.connect(["fff0"])
    show("connecting")


@driver.ready
def ready(services):
    driver.subscribe("fff2")


@driver.notified("fff2")
def notified(value):
    tag, state, battery = value
    driver.meaning("%s: it is %s" % ("to request %d" % tag if tag else "unasked", STATES[state]))
    if tag and tag == driver.awaited:
        driver.awaited = None
        show(STATES[state])
    elif tag:
        driver.isAsking = False
        driver.reading("battery", battery / 10)
    elif driver.awaited is None:
        show(STATES[state])


# Requests.

def need(*statuses):
    if driver.status not in statuses:
        driver.refuse("it is %s" % driver.status)


def send(message, text):
    """Sends a message once those before it are out; its tag."""
    driver.tag = driver.tag % 255 + 1
    message = bytes([driver.tag]) + message
    pieces = [message[start:start + 19] for start in range(0, len(message), 19)]
    for piece in pieces[:-1]:
        driver.queue.append((b"\x80" + piece, text + ", first part"))
    driver.queue.append((b"\x00" + pieces[-1], text))
    sendNext()
    return driver.tag


def sendNext():
    if driver.queue and not driver.isSending:
        driver.isSending = True
        fragment, text = driver.queue.pop(0)
        driver.write("fff1", fragment, then=sent, text=text)


def sent():
    driver.isSending = False
    sendNext()


def request(message, text):
    driver.awaited = send(message, text)
    show("checking")


@driver.stimulus
def pin():
    need("locked", "unlocked")
    request(bytes([PIN]) + USER + b"1234", "the right PIN")


@driver.stimulus
def wrongPin():
    need("locked")
    request(bytes([PIN]) + USER + b"0000", "a wrong PIN")


@driver.stimulus
def master():
    need("locked", "unlocked", "shutOut")
    request(bytes([MASTER]) + USER + b"9876", "the master code")


@driver.stimulus
def lock():
    need("unlocked")
    request(bytes([LOCK]), "lock")


@driver.stimulus
def query():
    need("locked", "unlocked", "shutOut", "checking")
    # One at a time: were there 255 on their way, the answer to one could be taken for that to a code.
    if not driver.isAsking:
        driver.isAsking = True
        send(bytes([QUERY]), "query")


@driver.fault(level="messages", values=["empty", "unknown", "cut", "long"])
def malformed(kind):
    """Writes what means nothing to a correct lock."""
    if driver.status in STATES and not driver.queue:
        message = {"empty": b"", "unknown": b"\x00\x00\x7f", "cut": b"\x00\x00\x02cab", "long": bytes(200)}[kind]
        driver.queue.append((message, "malformed: %s" % kind))
        sendNext()


@driver.stimulus
def leave():
    driver.stopScanning()
    driver.disconnect()
    forget()
    if driver.status != "away":
        show("away")


@driver.failed
def failed(operation, error, code):
    # Half a message is of no use to anybody.
    driver.disconnect()


@driver.disconnected
def disconnected(reason, text):
    forget()
    if driver.status == "away":
        return
    # 0x13: the lock has ended it. Whatever else it is, the air has lost it.
    if reason != 0x13:
        driver.event("linkLost", text)
    show("away")


driver.run()
