#!/usr/bin/env python3
"""Tests the cabinet locks with Hypothesis, in its own process and with a model in Python, and compares it with Lockstep.

usage: compare.py LOCKSTEP [--lock NAME] [--only BUG,…] [--seeds N] [--budget EVENTS]

An event is a request, a disturbance, or a wait, on both sides. Run it with a Python that has Hypothesis.
"""

import argparse
import importlib
import pathlib
import statistics
import sys
import time
import warnings

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

import measure

HERE = pathlib.Path(__file__).resolve().parent


class BudgetSpent(KeyboardInterrupt):
    """Nothing that Hypothesis would take for a failure of the test."""


class Count:
    """How many events it took until the first failure."""

    def __init__(self, budget):
        self.events, self.budget, self.found, self.length = 0, budget, None, 0

    def event(self):
        self.events += 1
        if self.found is None and self.events > self.budget:
            raise BudgetSpent

    def failed(self, length):
        self.found = self.found or self.events
        self.length = length


def search(rules, bug, seed, budget, steps=50):
    """Runs Hypothesis until it has found and shrunk a failure."""
    count = Count(budget)
    machine = hypothesis.seed(seed)(rules.machine(bug, count))
    options = settings(
        max_examples=10**6, stateful_step_count=steps, deadline=None, database=None, print_blob=False,
        report_multiple_bugs=False, verbosity=hypothesis.Verbosity.quiet, phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck))
    try:
        run_state_machine_as_test(machine, settings=options)
    except BudgetSpent:
        pass
    except (AssertionError, ExceptionGroup, hypothesis.errors.HypothesisException) as error:
        if count.found is None:
            raise
    return count


def medians(values, seeds):
    found = [value for value in values if value is not None]
    return statistics.median(found) if 2 * len(found) > seeds else None


def number(value):
    return "-" if value is None else f"{value:,.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lockstep", type=pathlib.Path)
    parser.add_argument("--lock", choices=measure.LOCKS)
    parser.add_argument("--only", default="")
    parser.add_argument("--held-back", action="store_true")
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--budget", type=int, default=300_000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lockstep = str(options.lockstep.resolve())
    print("| bug | Hypothesis: found | median | length | Lockstep: found | median | length | ratio | took |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    for lock in [options.lock] if options.lock else measure.LOCKS:
        names = [None] if options.healthy else measure.bugs(lock, options.held_back)
        rules = importlib.import_module("rules_" + lock.replace("-", "_"))
        for name in names:
            if options.only and name not in options.only.split(","):
                continue
            start = time.monotonic()
            theirs, ours = [], []
            for seed in range(1, options.seeds + 1):
                theirs.append(search(rules, name, seed, options.budget))
                if name:
                    findings, _, _ = measure.planted(lockstep, lock, "bug=" + name, seed, options.budget)
                    ours.append(measure.confirmed(findings))
            hyp = medians([count.found for count in theirs], options.seeds)
            own = medians([finding and finding["events"] for finding in ours], options.seeds)
            ratio = "-"
            if own and hyp:
                ratio = f"{hyp / own:.1f}"
            elif own:
                ratio = f"> {options.budget / own:.1f}"
            elif hyp:
                ratio = f"< {hyp / options.budget:.3f}"
            cells = [
                f"{lock} {name or 'healthy'}", f"{sum(bool(count.found) for count in theirs)}/{options.seeds}", number(hyp),
                number(medians([count.length or None for count in theirs], options.seeds)),
                f"{sum(bool(finding) for finding in ours)}/{options.seeds}", number(own),
                number(medians([finding and finding["shortest"] for finding in ours], options.seeds)), ratio,
                f"{time.monotonic() - start:.0f} s"]
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
