"""A locker with a time-lock, as one program. It has no bug on purpose."""

import lockstep_device

AFTER = {"ready": (60, "closed"), "open": (180, "alarm")}

locker = lockstep_device.Device("locker", effects=True, moves=["code"])


def turn(state):
    if locker.timer:
        locker.timer.cancel()
    locker.state, locker.timer = state, None
    locker.show(state)
    if state == "waiting":
        locker.timer = locker.after(locker.delay or 600, lambda: turn("ready"))
    elif state in AFTER:
        seconds, following = AFTER[state]
        locker.timer = locker.after(seconds, lambda: turn(following))
    if state == "alarm":
        locker.effect("call")


def need(*states):
    if locker.state not in states:
        locker.refuse("it is %s" % locker.state)


@locker.reset
def reset():
    locker.timer, locker.delay = None, 0
    turn("closed")


@locker.stimulus
def ask():
    need("closed")
    turn("waiting")


@locker.stimulus
def cancel():
    need("waiting", "ready")
    turn("closed")


@locker.stimulus
def code():
    need("ready")
    turn("open")


@locker.stimulus
def shut():
    need("open")
    turn("closed")


@locker.stimulus(arguments=[{"delay": seconds} for seconds in (0, 60, 300, 900)])
def setDelay(delay=0):
    locker.delay = delay


@locker.stimulus
def force():
    need("closed", "waiting", "ready")
    turn("alarm")


@locker.stimulus
def service():
    need("alarm")
    turn("closed")


locker.run()
