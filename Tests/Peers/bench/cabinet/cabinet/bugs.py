"""Bugs of the cabinet lock, a class each; its first line says what is wrong.

`bug=NAME` plants one. Those of PLANTED are what a test generator is improved with; those of HELD_BACK, two for each class
of bug, show whether that was a fit to the others. `race=TIME` plants a race of that width before the lock relocks.
"""

from lock import Cabinet

PLANTED, HELD_BACK = {}, {}


def planted(bug):
    PLANTED[nameOf(bug)] = bug
    return bug


def heldBack(bug):
    HELD_BACK[nameOf(bug)] = bug
    return bug


def nameOf(bug):
    """`lock-out-prolonged` for LockOutProlonged."""
    return "".join("-" + letter.lower() if letter.isupper() else letter for letter in bug.__name__).lstrip("-")


def lockNamed(arguments):
    """The lock with the bug that a command line names, or without one."""
    for argument in arguments:
        key, _, value = argument.partition("=")
        if key == "race":
            return race(milliseconds=int(value.removesuffix("ms")))
        if key == "bug":
            return {**PLANTED, **HELD_BACK}[value]
    return Cabinet


def race(milliseconds):
    class Race(Cabinet):
        """A PIN in the last moments before it relocks leaves it unlocked for good."""

        def pin(self):
            isLate = self.state == "unlocked" and self.timer and self.left() <= milliseconds / 1000
            super().pin()
            if isLate:
                self.cancel()

    return Race


# The number of tries.

@planted
class TwoTries(Cabinet):
    """Two wrong PINs lock everybody out."""

    tries = 2


@heldBack
class FourTries(Cabinet):
    """It takes four wrong PINs to lock everybody out."""

    tries = 4


@heldBack
class FewerTriesLater(Cabinet):
    """After the first lock-out, the next one comes after two wrong PINs."""

    def reset(self):
        super().reset()
        self.tries = 3

    def endLockOut(self):
        super().endLockOut()
        self.tries = 2


# When wrong PINs are forgotten.

@planted
class CountSurvivesPower(Cabinet):
    """Wrong PINs still count after a power cycle."""

    def powerCycle(self):
        wrong = self.wrong
        super().powerCycle()
        self.wrong = wrong


@heldBack
class CountSurvivesPin(Cabinet):
    """Wrong PINs still count after the right one."""

    def pin(self):
        wrong = self.wrong
        super().pin()
        self.wrong = wrong


@heldBack
class CountSurvivesLockOut(Cabinet):
    """After a lock-out one wrong PIN is still counted."""

    def endLockOut(self):
        super().endLockOut()
        self.wrong = 1


# A request right before a timer.

@planted
class LatePin(race(milliseconds=50)):
    """A PIN in the last 50 ms before it relocks leaves it unlocked for good."""


@heldBack
class LateHold(Cabinet):
    """Holding it in the last 50 ms before it relocks does not keep it from relocking."""

    def hold(self):
        isLate = self.state == "unlocked" and self.left() <= 0.05
        super().hold()
        if isLate:
            self.wait(0.05, self.relock)


@heldBack
class LateBolt(Cabinet):
    """A PIN in the last 50 ms of the bolt's way shows it unlocked, and then it is locked all the same."""

    def pin(self):
        isLate = self.state == "locking" and self.left() <= 0.05
        super().pin()
        if isLate:
            self.wait(0.05, lambda: self.turn("locked"))


# What is asked for during the lock-out.

@planted
class LockOutProlonged(Cabinet):
    """A wrong PIN during the lock-out begins it anew."""

    def wrongPin(self):
        if self.state == "shutOut":
            self.cancel()
            self.begin("shutOut")
        super().wrongPin()


@heldBack
class QueryProlongs(Cabinet):
    """A query during the lock-out adds a second to it."""

    def query(self):
        super().query()
        if self.state == "shutOut":
            left = self.left()
            self.wait(left + 1, self.endLockOut)


@heldBack
class BatteryEnds(Cabinet):
    """Reading the battery in the last five seconds of the lock-out ends it."""

    def readBattery(self):
        super().readBattery()
        if self.state == "shutOut" and self.left() <= 5:
            self.endLockOut()


# What starts a timer again.

@planted
class RelockNotRestarted(Cabinet):
    """A second PIN does not let the time begin anew."""

    def pin(self):
        left = self.left() if self.state == "unlocked" else None
        super().pin()
        if left is not None:
            self.wait(left, self.relock)


@heldBack
class DoorKeepsTime(Cabinet):
    """When the door is closed, the time goes on that began when it was unlocked."""

    def unlock(self):
        super().unlock()
        self.lockTime = self.device.now + self.relockTime

    def closeDoor(self):
        super().closeDoor()
        if self.state == "unlocked":
            self.wait(max(1, self.lockTime - self.device.now), self.relock)


@heldBack
class ReleaseStartsNothing(Cabinet):
    """When it is released with the door closed, it stays unlocked for good."""

    def release(self):
        super().release()
        self.cancel()


# Too early, too late.

@planted
class RelockEarly(Cabinet):
    """It relocks after 6.65 s, 5 % too early."""

    relockTime = 6.65


@heldBack
class LockOutEarly(Cabinet):
    """The lock-out ends after 28.5 s, 5 % too early."""

    lockOutTime = 28.5


@heldBack
class EarlyAfterLockOut(Cabinet):
    """When the master code has ended a lock-out, it relocks 5 % too early."""

    def master(self):
        wasShutOut = self.state == "shutOut"
        super().master()
        if wasShutOut:
            self.wait(6.65, self.relock)


# A count that wraps.

@planted
class QueryTwoHundredFiftySix(Cabinet):
    """The 256th query in a row unlocks it."""

    request, limit = "query", 256

    def reset(self):
        super().reset()
        self.count = 0

    def asked(self, request):
        self.count = self.count + 1 if request == self.request else 0
        if self.count == self.limit:
            self.count = 0
            self.unlock()


@heldBack
class BatteryOneHundredTwentyEight(QueryTwoHundredFiftySix):
    """The 128th reading of the battery in a row unlocks it."""

    request, limit = "readBattery", 128


@heldBack
class PowerTwoHundredFiftySix(QueryTwoHundredFiftySix):
    """The 256th power cycle in a row unlocks it."""

    request, limit = "powerCycle", 256


# A question that changes something in a rare state.

@planted
class QueryUnlocks(Cabinet):
    """A query while the door is open, it is held and the battery has become weak, ends its being held."""

    def query(self):
        if self.state == "held" and self.isDoorOpen and self.isWeak:
            return self.turn("open")
        super().query()


@heldBack
class QueryAfterPower(Cabinet):
    """The first query after a power cycle in a lock-out ends the lock-out."""

    def reset(self):
        super().reset()
        self.isFresh = False

    def powerCycle(self):
        super().powerCycle()
        self.isFresh = self.state == "shutOut"

    def query(self):
        if self.state == "shutOut" and self.isFresh:
            return self.endLockOut()
        super().query()


@heldBack
class BatteryLocksUp(Cabinet):
    """Reading a weak battery while the bolt moves leaves the bolt where it is."""

    def readBattery(self):
        super().readBattery()
        if self.state == "locking" and self.isWeak:
            self.cancel()


# The battery.

@planted
class BatteryStale(Cabinet):
    """Once it was weak, the battery is called weak until the power is cycled, whatever was put in."""

    def reset(self):
        super().reset()
        self.isReallyWeak = False

    def weak(self, isOn):
        self.isWeak, self.isReallyWeak = self.isWeak or isOn, isOn

    def powerCycle(self):
        super().powerCycle()
        self.isWeak = self.isReallyWeak


@heldBack
class BatteryNought(Cabinet):
    """While the bolt moves the battery is read as 0 V."""

    def voltage(self):
        return 0.0 if self.state == "locking" else super().voltage()


@heldBack
class BatteryAssumedGood(Cabinet):
    """After a power cycle the battery is called good, also where it is weak."""

    def powerCycle(self):
        super().powerCycle()
        self.isWeak = False


# The master code.

@planted
class MasterLockedOut(Cabinet):
    """The master code is refused during the lock-out."""

    def master(self):
        self.need("locked", "unlocked", "locking")
        super().master()


@heldBack
class MasterOnce(Cabinet):
    """The master code ends a lock-out once, and no second one before the power is cycled."""

    def reset(self):
        super().reset()
        self.isUsed = False

    def powerCycle(self):
        super().powerCycle()
        self.isUsed = False

    def master(self):
        if self.state == "shutOut":
            if self.isUsed:
                self.device.refuse("it was used")
            self.isUsed = True
        super().master()


@heldBack
class MasterKeepsCount(Cabinet):
    """The master code does not clear the count of wrong PINs."""

    def master(self):
        wrong = self.wrong
        super().master()
        self.wrong = wrong


# The door while the bolt moves.

@planted
class DoorInRelock(Cabinet):
    """A door that is opened while the bolt moves does not call it back: it shows locked."""

    def openDoor(self):
        isMoving = self.state == "locking"
        super().openDoor()
        if isMoving:
            self.wait(self.boltTime / 2, lambda: self.turn("locked"))


@heldBack
class DoorLate(Cabinet):
    """A door that is opened in the last 100 ms of the bolt's way is not noticed."""

    def openDoor(self):
        if self.state == "locking" and self.left() <= 0.1:
            return
        super().openDoor()


@heldBack
class DoorComesBack(Cabinet):
    """A door that was opened while the bolt moved shows locked as soon as it is closed."""

    def reset(self):
        super().reset()
        self.wasMoving = False

    def openDoor(self):
        self.wasMoving = self.state == "locking"
        super().openDoor()

    def closeDoor(self):
        super().closeDoor()
        if self.wasMoving and self.state == "unlocked":
            self.turn("locked")
