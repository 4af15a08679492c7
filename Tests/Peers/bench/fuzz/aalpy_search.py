#!/usr/bin/env python3
"""AALpy's conformance tests on the open benchmark: the healthy lock is the model, and one with a bug is tested against it.

usage: aalpy_search.py SEEDS BUDGET                     prints one JSON object a figure; budget: events for each seed
"""

import collections
import contextlib
import random
import sys
import time

from aalpy.automata import MealyMachine, MealyState
from aalpy.base import SUL
from aalpy.learning_algs import run_KV
from aalpy.oracles import RandomWalkEqOracle, RandomWMethodEqOracle

from sesame2 import NO_SIGNAL, RECEIVED_BLE, TURN, Lock, say, say_search

ALPHABET = list(range(TURN + 1))
STATES = 31


class BudgetSpent(Exception):
    pass


class Device(SUL):
    def __init__(self, bug=0, budget=None, loss=0.0):
        super().__init__()
        self.bug, self.budget, self.loss, self.events = bug, budget, loss, 0

    def pre(self):
        self.lock = Lock(self.bug, fixed=True)

    def post(self):
        pass

    def step(self, event):
        self.events += 1
        if self.budget and self.events > self.budget:
            raise BudgetSpent
        shown = self.lock.step(event)
        if self.loss and shown not in (NO_SIGNAL, RECEIVED_BLE) and random.random() < self.loss:
            self.lock.status = shown = NO_SIGNAL
        return shown


def model():
    """The healthy lock as a Mealy machine."""

    def key(lock):
        return lock.status, lock.registered, lock.configured, lock.bolt

    first = Lock(fixed=True)
    states = {key(first): MealyState("s0")}
    queue = collections.deque([first])
    while queue:
        lock = queue.popleft()
        state = states[key(lock)]
        for event in ALPHABET:
            after = lock.copy()
            shown = after.step(event)
            if key(after) not in states:
                states[key(after)] = MealyState(f"s{len(states)}")
                queue.append(after)
            state.transitions[event], state.output_fun[event] = states[key(after)], shown
    machine = MealyMachine(states[key(first)], list(states.values()))
    machine.minimize()
    for state in machine.states:
        state.prefix = machine.get_shortest_path(machine.initial_state, state) or ()
    machine.characterization_set = machine.compute_characterization_set()
    return machine


def main():
    seeds, budget = int(sys.argv[1]), int(sys.argv[2])
    healthy = model()
    device = Device()
    start = time.process_time()
    RandomWalkEqOracle(ALPHABET, device, num_steps=200_000, reset_prob=0.02).find_cex(healthy)
    say("aalpy.events", round(device.events / (time.process_time() - start)), unit="events/s")
    for bug in (1, 2):
        rows = []
        for number in range(1, (seeds if bug == 1 else min(seeds, 3)) + 1):
            random.seed(number)
            device = Device(bug, budget)
            oracle = RandomWMethodEqOracle(ALPHABET, device, walks_per_state=3000, walk_len=20)
            try:
                found = oracle.find_cex(healthy)
            except BudgetSpent:
                found = None
            rows.append({"find": device.events} if found else {})
        say_search("aalpy", bug, rows)
    for percent in (1, 5):
        outcomes = []
        for number in range(5):
            random.seed(number)
            device = Device(budget=budget, loss=percent / 100)
            oracle = RandomWalkEqOracle(ALPHABET, device, num_steps=20_000, reset_prob=0.02)
            try:
                with contextlib.redirect_stdout(sys.stderr):
                    learned = run_KV(ALPHABET, device, oracle, "mealy", print_level=0, max_learning_rounds=30)
                outcomes.append("right" if len(learned.states) == STATES else "a wrong model")
            except (Exception, SystemExit) as error:  # Whatever it fails with, there is no model.
                outcomes.append(type(error).__name__)
        alarms = sum(outcome != "right" for outcome in outcomes)
        say(f"aalpy.noise{percent}.alarms", alarms, of=len(outcomes), verdicts=sorted(set(outcomes)))


main()
