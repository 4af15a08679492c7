import lockstep_device
from cipher import seal, unseal
lock = lockstep_device.Peripheral(
    "bench", advertise={"services": ["fff0"]},
    services={"fff0": {"fff1": ["write-without-response"], "fff2": ["notify"]}})

@lock.reset
def reset():
    lock.isOn, lock.sent, lock.got = False, 0, 0

def tell():
    lock.sent += 1
    lock.notify("fff2", seal(lock.sent, 2, b"1" if lock.isOn else b"0"))

@lock.subscription("fff2")
def subscription(isOn):
    tell()

@lock.written("fff1")
def written(message):
    lock.got += 1
    if unseal(lock.got, 1, message) == b"toggle":
        lock.isOn = not lock.isOn
    tell()

lock.run()
