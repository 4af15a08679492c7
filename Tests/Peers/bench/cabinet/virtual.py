"""A device in virtual time, for locks that are tested in the process of the test: what lockstep_device is to a program."""

import heapq


class Refused(Exception):
    """What was asked for is not done."""


class Timer:
    __slots__ = ("due", "number", "action")

    def __init__(self, due, number, action):
        self.due, self.number, self.action = due, number, action

    def __lt__(self, other):
        return (self.due, self.number) < (other.due, other.number)

    def cancel(self):
        self.action = None


class Device:
    def __init__(self):
        self.reset()

    def reset(self):
        self.time, self.timers, self.count, self.shown = 0, [], 0, []

    @property
    def now(self):
        return self.time / 1e9

    def after(self, seconds, action):
        self.count += 1
        timer = Timer(self.time + round(seconds * 1e9), self.count, action)
        heapq.heappush(self.timers, timer)
        return timer

    def advance(self, seconds):
        """Lets time pass; what is shown has the time at which it was."""
        end = self.time + round(seconds * 1e9)
        while self.timers and self.timers[0].due <= end:
            timer = heapq.heappop(self.timers)
            if timer.action:
                self.time = timer.due
                timer.action()
        self.time = end

    def take(self):
        """What was shown since the last call."""
        shown, self.shown = self.shown, []
        return shown

    def say(self, kind, value):
        self.shown.append((self.now, kind, value))

    # What a lock says.

    def show(self, status):
        self.say("status", status)

    def effect(self, name):
        self.say("effect", name)

    def reading(self, name, value):
        self.say(name, value)

    def refuse(self, reason):
        raise Refused(reason)

    def notify(self, place, value):
        self.say("notified", bytes(value))

    def disconnect(self):
        self.say("disconnected", 0x13)
