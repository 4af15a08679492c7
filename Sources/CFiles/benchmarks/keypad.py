import lockstep_device

lock = lockstep_device.Device("keypad", time="virtual", readings=["battery"], effects=True, moves=["enter"])

@lock.reset
def reset():
    lock.wrong, lock.timer = 0, None
    turn("Locked")

def turn(state, back_after=None):
    if lock.timer:
        lock.timer.cancel()
    lock.timer = lock.after(back_after, lambda: turn("Locked")) if back_after else None
    lock.wrong = 0
    lock.state = state
    lock.show(state)

@lock.stimulus
def enter():
    if lock.state != "Locked":
        lock.refuse("it is %s" % lock.state)
    turn("Unlocked", 5.0)

@lock.stimulus
def enterWrong():
    if lock.state != "Locked":
        lock.refuse("it is %s" % lock.state)
    lock.effect("buzz")
    lock.wrong += 1
    if lock.wrong == 3:
        turn("LockedOut", 30.0)
    else:
        if lock.timer:
            lock.timer.cancel()
        lock.timer = lock.after(60.0, forget)

def forget():
    lock.wrong = 0

@lock.stimulus
def readBattery():
    lock.reading("battery", 5.9)

lock.run()
