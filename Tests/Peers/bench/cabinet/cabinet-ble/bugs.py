"""Bugs of the cabinet lock behind Bluetooth, a class each; its first line says what is wrong.

`bug=NAME` plants one. Those of PLANTED are what a test generator is improved with; those of HELD_BACK, two for each class
of bug, show whether that was a fit to the others. `race=TIME` plants a race of that width before the lock relocks.
"""

from lock import LOCKED, SHUT_OUT, UNLOCKED, Cabinet

PLANTED, HELD_BACK = {}, {}


def planted(bug):
    PLANTED[nameOf(bug)] = bug
    return bug


def heldBack(bug):
    HELD_BACK[nameOf(bug)] = bug
    return bug


def nameOf(bug):
    """`half-message` for HalfMessage."""
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

        isLate = False

        def code(self, tag, request, isRight):
            isLate = self.state == UNLOCKED and self.timer and self.left() <= milliseconds / 1000
            super().code(tag, request, isRight)
            self.isLate = bool(isLate)

        def checked(self, tag, isRight):
            super().checked(tag, isRight)
            if self.isLate:
                self.stop()
            self.isLate = False

    return Race


# Too late.

@planted
class RelockLate(Cabinet):
    """It relocks after 7.35 s, 5 % too late."""

    relockTime = 7.35


@heldBack
class LockOutLate(Cabinet):
    """The lock-out lasts 31.5 s, 5 % too long."""

    lockOutTime = 31.5


@heldBack
class IdleLate(Cabinet):
    """A link over which nothing is said is ended after 21 s, 5 % too late."""

    idleTime = 21


# When wrong PINs are forgotten.

@planted
class CountSurvivesLink(Cabinet):
    """Wrong PINs still count after a reconnection."""

    def forgetLink(self, reason):
        self.buffer = b""


@heldBack
class CountSurvivesLoss(Cabinet):
    """Wrong PINs still count after a reconnection, if the link was lost and not ended."""

    def forgetLink(self, reason):
        wrong = self.wrong
        super().forgetLink(reason)
        if reason == 0x08:
            self.wrong = wrong


@heldBack
class CountSurvivesIdle(Cabinet):
    """Wrong PINs still count after the lock has ended an idle link."""

    def forgetLink(self, reason):
        wrong = self.wrong
        super().forgetLink(reason)
        if reason == 0x16:
            self.wrong = wrong


# A time-out that crosses an answer.

@planted
class TimeOutCrossesAnswer(Cabinet):
    """If the time of an idle link is over while a code is checked, neither the link ends nor is there an answer."""

    def code(self, tag, request, isRight):
        idle, self.idle = self.idle, None
        super().code(tag, request, isRight)
        self.idle = idle

    def endLink(self):
        if self.check:
            self.checking.cancel()
            self.check = None
        else:
            super().endLink()


@heldBack
class RelockCrossesPin(Cabinet):
    """If it relocks while a PIN is checked, the PIN is not answered."""

    def code(self, tag, request, isRight):
        left = self.left() if self.state == UNLOCKED else 0
        super().code(tag, request, isRight)
        if left:
            self.wait(left)

    def timeOut(self):
        if self.check:
            self.checking.cancel()
            self.check = None
        super().timeOut()


@heldBack
class LockOutCrossesMaster(Cabinet):
    """If the lock-out ends while the master code is checked, the code is not answered."""

    def code(self, tag, request, isRight):
        left = self.left() if self.state == SHUT_OUT else 0
        super().code(tag, request, isRight)
        if left and self.check:
            self.wait(left)

    def timeOut(self):
        if self.check:
            self.checking.cancel()
            self.check = None
        super().timeOut()


# A link that is lost between two fragments.

@planted
class HalfMessage(Cabinet):
    """What had come of a message when the link was lost is taken for the beginning of the next session's first one."""

    def forgetLink(self, reason):
        self.wrong = 0


@heldBack
class HalfMessageCounts(Cabinet):
    """A message that a lost link has cut in half counts as a wrong PIN of the next session."""

    def forgetLink(self, reason):
        isHalf = bool(self.buffer)
        super().forgetLink(reason)
        self.wrong = int(isHalf)


@heldBack
class HalfMessageDeafens(Cabinet):
    """After a message that a lost link has cut in half, codes are not answered in the next session."""

    isDeaf = False

    def reset(self):
        super().reset()
        self.isDeaf = False

    def forgetLink(self, reason):
        self.isDeaf = bool(self.buffer)
        super().forgetLink(reason)

    def code(self, tag, request, isRight):
        if not self.isDeaf:
            super().code(tag, request, isRight)


# Two requests at once.

@planted
class NotificationLost(Cabinet):
    """A query that comes while a code is checked is answered, and the code is not."""

    def code(self, tag, request, isRight):
        self.isAsked = False
        super().code(tag, request, isRight)

    def query(self, tag):
        super().query(tag)
        self.isAsked = self.check is not None

    def checked(self, tag, isRight):
        isSubscribed = self.isSubscribed
        self.isSubscribed, self.isAsked = isSubscribed and not self.isAsked, False
        super().checked(tag, isRight)
        self.isSubscribed = isSubscribed


@heldBack
class PinAfterQuery(Cabinet):
    """A code that has come completely within 50 ms of a query is not answered."""

    asked = -1

    def reset(self):
        super().reset()
        self.asked = -1

    def query(self, tag):
        super().query(tag)
        self.asked = self.device.now

    def code(self, tag, request, isRight):
        if self.device.now - self.asked > 0.05:
            super().code(tag, request, isRight)


@heldBack
class QueryRestartsCheck(Cabinet):
    """Two queries while a code is checked make a wrong one of it."""

    count = 0

    def code(self, tag, request, isRight):
        self.count = 0
        super().code(tag, request, isRight)

    def query(self, tag):
        super().query(tag)
        self.count += 1
        if self.check and self.count == 2:
            self.check = (self.check[0], False)


# A reconnection during the lock-out.

@planted
class ReconnectionLifts(Cabinet):
    """A reconnection during the lock-out ends it."""

    def subscription(self, isOn):
        if isOn and self.state == SHUT_OUT:
            self.stop()
            self.state = LOCKED
        super().subscription(isOn)


@heldBack
class LostLinkLifts(Cabinet):
    """A link that is lost, and not ended, in the lock-out ends that."""

    def forgetLink(self, reason):
        super().forgetLink(reason)
        if reason == 0x08 and self.state == SHUT_OUT:
            self.turn(LOCKED)


@heldBack
class SecondReconnectionLifts(Cabinet):
    """The second lock-out since the reset is ended by a reconnection."""

    lockOuts = 0

    def reset(self):
        super().reset()
        self.lockOuts = 0

    def turn(self, state, tag=0):
        super().turn(state, tag)
        self.lockOuts += state == SHUT_OUT

    def forgetLink(self, reason):
        super().forgetLink(reason)
        if self.state == SHUT_OUT and self.lockOuts == 2:
            self.turn(LOCKED)
