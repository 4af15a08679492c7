#!/usr/bin/env python3
"""Hypothesis on the open benchmark, with one rule that draws a legal event, which is the better of two ways to write it.

usage: hypothesis_search.py SEEDS BUDGET                prints one JSON object a figure; budget: events for each seed
"""

import random
import sys
import time
import warnings

import hypothesis
from hypothesis import HealthCheck, Phase, seed, settings, strategies
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from sesame2 import NO_SIGNAL, RECEIVED_BLE, Lock, Model, say, say_search

LENGTH = 50


class BudgetSpent(KeyboardInterrupt):
    """Nothing that Hypothesis would take for a failure of the test."""


class Lossy(Lock):
    """A lock whose link is lost by itself at some events."""

    __slots__ = ()
    chance = 0.0

    def step(self, event):
        shown = super().step(event)
        if shown not in (NO_SIGNAL, RECEIVED_BLE) and random.SystemRandom().random() < self.chance:
            self.status = shown = NO_SIGNAL
        return shown


class Count:
    def __init__(self):
        self.runs = self.events = self.length = 0
        self.found = None


def machine(make, number, budget):
    """The machine for a seed, and what it counts."""
    count = Count()

    class Machine(RuleBasedStateMachine):
        def __init__(self):
            super().__init__()
            count.runs += 1
            self.model, self.lock, self.length = Model(), make(), 0

        @rule(data=strategies.data())
        def step(self, data):
            event = data.draw(strategies.sampled_from(self.model.legal()))
            count.events += 1
            self.length += 1
            if count.found is None and count.events > budget:
                raise BudgetSpent
            if not self.model.check(event, self.lock.step(event)):
                count.found = count.found or (count.runs, count.events)
                count.length = self.length
                raise AssertionError("the lock showed what the model does not allow")

    return seed(number)(Machine), count


def run(make, number, budget, examples=10**6):
    """Runs a campaign; says how it ended."""
    tests, count = machine(make, number, budget)
    options = settings(
        max_examples=examples, stateful_step_count=LENGTH, deadline=None, database=None, print_blob=False,
        report_multiple_bugs=False, verbosity=hypothesis.Verbosity.quiet, phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck))
    try:
        run_state_machine_as_test(tests, settings=options)
    except (BudgetSpent, AssertionError, hypothesis.errors.HypothesisException, ExceptionGroup) as error:
        return count, type(error).__name__
    return count, "pass"


def main():
    seeds, budget = int(sys.argv[1]), int(sys.argv[2])
    warnings.simplefilter("ignore")
    start = time.process_time()
    count, _ = run(Lock, 1, budget, examples=400)
    say("hypothesis.events", round(count.events / (time.process_time() - start)), unit="events/s")
    for bug in (1, 2):
        rows = []
        # A seed of the second takes a minute.
        for number in range(1, (seeds if bug == 1 else min(seeds, 3)) + 1):
            count, _ = run(lambda: Lock(bug), number, budget)
            row = {}
            if count.found:
                runs, events = count.found
                row = {"find": events, "length": count.length, "runs": count.runs - runs, "events": count.events - events}
            rows.append(row)
        say_search("hypothesis", bug, rows)
    for percent in (1, 5):
        Lossy.chance = percent / 100
        verdicts = [run(Lossy, number, budget, examples=100)[1] for number in range(10)]
        # Whatever else it says, it does not say that the lock is healthy.
        alarms = sum(verdict != "pass" for verdict in verdicts)
        say(f"hypothesis.noise{percent}.alarms", alarms, of=len(verdicts), verdicts=sorted(set(verdicts)))


main()
