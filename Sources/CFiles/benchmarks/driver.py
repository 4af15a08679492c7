import lockstep_device
from cipher import seal, unseal
lock = lockstep_device.Driver("bench", services=["fff0"])

@lock.reset
def reset():
    lock.sent = lock.got = 0

@lock.stimulus
def connect():
    lock.scan()

@lock.heard
def heard(advertisement):
    lock.stopScanning()
    lock.connect()

@lock.ready
def ready(services):
    lock.subscribe("fff2")

@lock.notified("fff2")
def notified(message):
    lock.got += 1
    lock.show("on" if unseal(lock.got, 2, message) == b"1" else "off")

@lock.stimulus
def toggle():
    lock.sent += 1
    lock.write("fff1", seal(lock.sent, 1, b"toggle"))

lock.run()
