#!/usr/bin/env python3
"""Tests the keypad lock with Hypothesis, in its own process, and prints a table: a row for each fault and seed.

One rule draws what the status allows, which finds faults after fewer events than a rule for each stimulus does.

usage: hypothesis_keypad.py [--only FAULT,… | --healthy] [--seeds N] [--events N] [--shrink N]

An event is a stimulus or a wait. --events limits the search of each seed, and --shrink the shrinking of what it finds. Run it
with a Python that has Hypothesis.
"""

import argparse
import collections
import time
import warnings

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

import keypad

LENGTH = 100
USERS = ["anna", "bob"]
FIRST = {"anna": "1234", "bob": "2468"}
DURESS = "9119"
DENIED, DONE, BEEP, BUZZ, ALARM = (("effect", name) for name in ("denied", "done", "beep", "buzz", "alarm"))

# Around the timers, and anything else up to two minutes.
WAITS = st.one_of(
    st.sampled_from([0.5, 1, 2, 3, 4, 6, 6.9, 7, 8, 30, 53, 59.9, 60, 61]),
    st.integers(1, 120_000).map(lambda milliseconds: milliseconds / 1000))

# What is done in each status, as often as it is named.
WITH_CODES = [
    *["enter own"] * 3, "enter duress", *["enter almost"] * 2, *["enter any"] * 2, *["change own"] * 2, "change any",
]
ALWAYS = ["wait", "wait", "reset", "refused"]
CHOICES = {
    "locked": [*WITH_CODES, *ALWAYS, "read", "read", "update"],
    "unlocked": [*WITH_CODES, *ALWAYS, "read", "read", "lock", "lock", "lock", "delete"],
    "lockedOut": [*ALWAYS, "read", "wait"],
    "firmware": [*ALWAYS, "finish", "finish", "finish"],
}

NEIGHBOURS = [
    lambda code: code + "0", lambda code: code + "5", lambda code: code[:-1], lambda code: code[1:],
    lambda code: code[:-1] + chr(ord(code[-1]) + 1), lambda code: code[:-1] + chr(ord(code[-1]) - 1),
    lambda code: chr(ord(code[0]) ^ 1) + code[1:], lambda code: code[::-1],
]
NEIGHBOUR = st.sampled_from(NEIGHBOURS)
# The code itself, as often as any neighbour.
NEAR = st.sampled_from([str] * len(NEIGHBOURS) + NEIGHBOURS)
DIGITS = st.text("0123456789", min_size=4, max_size=6)


class BudgetSpent(KeyboardInterrupt):
    """Nothing that Hypothesis would take for a failure of the test."""


class Count:
    """What a search has cost, and what it has found."""

    def __init__(self, budget, shrink):
        self.events, self.limit, self.shrink, self.found, self.length = 0, budget, shrink, None, None

    def event(self):
        if self.events == self.limit:
            raise BudgetSpent
        self.events += 1

    def failed(self, length):
        if self.found is None:
            self.found, self.limit = self.events, self.events + self.shrink
        self.length = min(length, self.length or length)


class Model:
    """What the lock must show: each stimulus returns it."""

    ALLOWED = {
        "enter": ("locked", "unlocked"), "lock": ("unlocked",), "change": ("locked", "unlocked"), "delete": ("unlocked",),
        "read": ("locked", "unlocked", "lockedOut"), "update": ("locked",), "finish": ("firmware",),
    }

    def __init__(self):
        self.now, self.status, self.end, self.number = 0, "locked", None, 0
        # All codes that ever were.
        self.known = [*FIRST.values(), DURESS]
        self.forget()

    def forget(self):
        self.codes, self.tries, self.log = dict(FIRST), dict.fromkeys(USERS, 0), collections.deque(maxlen=10)

    def allows(self, stimulus):
        return self.status in self.ALLOWED.get(stimulus, (self.status,))

    def become(self, status, seconds=None):
        self.status, self.end = status, None if seconds is None else round(self.now + seconds, 9)
        return ("status", status)

    def write(self, user, event):
        self.number += 1
        self.log.appendleft((self.number, user, event, self.now))

    def enter(self, user, code):
        is_right = code in (DURESS, self.codes.get(user))
        if self.status == "unlocked":
            if not is_right:
                return [BUZZ]
            self.end = round(self.now + 7, 9)
            return [BEEP]
        if is_right:
            self.tries[user] = 0
            self.write(user, "duress" if code == DURESS else "opened")
            return [self.become("unlocked", 7)] + [ALARM] * (code == DURESS)
        self.write(user, "refused")
        self.tries[user] += 1
        if self.tries[user] < 3:
            return [BUZZ]
        self.tries[user] = 0
        return [self.become("lockedOut", 60)]

    def lock(self):
        return [self.become("locked")]

    def change(self, user, old, new):
        if self.codes.get(user) != old or len(new) not in (4, 5, 6) or new == DURESS:
            return [DENIED]
        self.codes[user] = new
        self.known.append(new)
        return [DONE]

    def delete(self, user):
        return [DONE if self.codes.pop(user, None) else DENIED]

    def read(self):
        return [("log", list(self.log))]

    def update(self):
        return [self.become("firmware")]

    def finish(self):
        return [self.become("locked")]

    def reset(self):
        self.forget()
        return ([] if self.status == "locked" else [self.become("locked")]) + [DONE]

    def wait(self, seconds):
        """Returns when it must lock by itself, if it must."""
        self.now = round(self.now + seconds, 9)
        end = self.end
        if end is None or end > self.now:
            return None
        self.become("locked")
        return end


def agree(shown, expected):
    """Whether the lock has shown what it must. The times of records may differ by a second."""
    if len(shown) != 1 or shown[0][0] != "log" or len(expected) != 1 or expected[0][0] != "log":
        return shown == expected
    records, due = shown[0][1], expected[0][1]
    return len(records) == len(due) and all(
        (record["number"], record["user"], record["event"]) == wanted[:3] and abs(record["time"] - wanted[3]) <= 1
        for record, wanted in zip(records, due))


def machine(make, count):
    class Machine(RuleBasedStateMachine):
        def __init__(self):
            super().__init__()
            self.lock, self.model, self.length = make(), Model(), 0

        @rule(data=st.data())
        def step(self, data):
            kind = data.draw(st.sampled_from(CHOICES[self.model.status]))
            count.event()
            self.length += 1
            if kind == "wait":
                return self.wait(data.draw(WAITS))
            stimulus, _, which = kind.partition(" ")
            if stimulus == "refused":
                stimulus = data.draw(st.sampled_from([name for name in Model.ALLOWED if not self.model.allows(name)]))
            self.ask(stimulus, *self.arguments(stimulus, which, data.draw))

        def arguments(self, stimulus, which, draw):
            """Draws the arguments of a stimulus. The codes that matter most are drawn most often."""
            if stimulus not in ("enter", "change", "delete"):
                return []
            user = draw(st.sampled_from(USERS))
            if stimulus == "delete":
                return [user]
            # Of a deleted user, the first code.
            code = self.code(which, self.model.codes.get(user, FIRST[user]), draw)
            if stimulus == "enter":
                return [user, code]
            return [user, code, draw(DIGITS) if draw(st.booleans()) else self.code("any", None, draw)]

        def code(self, which, own, draw):
            match which:
                case "duress":
                    return DURESS
                case "almost":
                    return draw(NEIGHBOUR)(own)
                case "any":
                    return draw(NEAR)(draw(st.sampled_from(self.model.known)))
            return own

        def ask(self, stimulus, *arguments):
            shown = self.lock.ask(self.model.now, stimulus, *arguments)
            if not self.model.allows(stimulus):
                is_refused = [kind for kind, _ in shown] == ["refused"]
                return self.check(is_refused, "%s shows %s, and must be refused", stimulus, shown)
            expected = getattr(self.model, stimulus)(*arguments)
            self.check(agree(shown, expected), "%s shows %s, and must show %s", stimulus, shown, expected)

        def wait(self, seconds):
            due = self.model.wait(seconds)
            at, shown = self.lock.advance(self.model.now), self.lock.take()
            expected = [] if due is None else [("status", "locked")]
            self.check(at == due and shown == expected, "it shows %s at %s, and must show %s at %s", shown, at, expected, due)

        def check(self, holds, message, *particulars):
            if not holds:
                count.failed(self.length)
                raise AssertionError(message % particulars)

    return Machine


def search(make, seed, budget, shrink):
    """Runs Hypothesis until it has found and shrunk a failure, or has spent its events."""
    count = Count(budget, shrink)
    options = settings(
        max_examples=10**6, stateful_step_count=LENGTH, deadline=None, database=None, print_blob=False,
        report_multiple_bugs=False, verbosity=hypothesis.Verbosity.quiet, phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck))
    try:
        run_state_machine_as_test(hypothesis.seed(seed)(machine(make, count)), settings=options)
    except BudgetSpent:
        pass
    except (AssertionError, ExceptionGroup, hypothesis.errors.HypothesisException):
        if count.found is None:
            raise
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--shrink", type=int, default=50_000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    faults = {"healthy": keypad.Keypad} if options.healthy else keypad.FAULTS
    print("| fault | seed | found after | shrunk to | events | events/s |\n|---|---|---|---|---|---|", flush=True)
    for name, make in faults.items():
        if options.only and name not in options.only.split(","):
            continue
        for seed in range(1, options.seeds + 1):
            start = time.process_time()
            count = search(make, seed, options.events, options.shrink)
            rate = count.events / (time.process_time() - start)
            found = f"{count.found:,} | {count.length}" if count.found else "not found | -"
            print(f"| {name} | {seed} | {found} | {count.events:,} | {rate:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
