#!/usr/bin/env python3
"""Kills nights at random moments, and holds what is left to what is promised.

usage: nights.py LOCKSTEP [--kills N] [--floor-kills N] [--seed N] [--demo]

Nights of emulated locks are started and killed with SIGKILL, taken up again by the same command and killed again, until
they come to their end. No case may be lost, none driven again that came to a verdict, and the report must be that of
a night that nobody killed. Then the same on a floor of emulated locks on two transports, driven as if they were real,
where children are killed too: no counter may say less than the motor's own, and each lock must be parked or be
said not to be.

--demo is a night in which one transport is killed in the middle and one lock jams for good; its page is printed.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from floor import Floor, fail

ROOT = Path(__file__).resolve().parents[2]


def night(out):
    """The folder of the one night."""
    nights = sorted(path for path in (out / "runs").glob("*-nightly*") if not path.name.startswith("."))
    if len(nights) > 1:
        fail(f"there are {len(nights)} nights where one was taken up again")
    return nights[0] if nights else None


def record(folder):
    """The lines of the record that are whole."""
    path = folder / "night.jsonl"
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def check_record(lines):
    """Holds a record to it that nothing is lost or driven twice; gives the results by case."""
    results, judged, open_runs, retries = {}, {}, {}, {}
    for line in lines:
        if "start" in line and "case" in line["start"]:
            start = line["start"]
            if start["case"] in results:
                fail(f"{start['case']} has a result, and is driven again in run {start['run']}")
            if judged.get(start["case"]) == "agree":
                fail(f"{start['case']} agreed, and is driven again in run {start['run']}")
            open_runs[start["run"]] = start["case"]
        if "end" in line and line["end"]["run"] in open_runs:
            judged[open_runs.pop(line["end"]["run"])] = line["end"]["verdict"]
        if "done" in line:
            if line["done"]["case"] in results:
                fail(f"{line['done']['case']} has two results")
            results[line["done"]["case"]] = line["done"]["verdict"]
    return results


def outcomes(report):
    cases = {}
    for case in ElementTree.parse(report).iter("testcase"):
        key = (case.get("classname"), case.get("name"))
        if key in cases:
            fail(f"{report}: {key} stands there twice")
        cases[key] = sorted(child.tag for child in case if child.tag in ("failure", "error", "skipped"))
    return cases


def journals(folder):
    """The cases that children's journals say agreed, by run."""
    agreed = {}
    for journal in folder.glob("cases/*/runs/*/journal.jsonl"):
        for line in journal.read_bytes().split(b"\n")[:-1]:
            if b'{"verdict":"agree"' in line:
                agreed[int(journal.parts[-4])] = True
    return agreed


class Emulators:
    """Nights of locks that are played in the processes that drive them: nothing but work and kills."""

    BENCH = """bench: emulators-{process}
locks:
  - {{ name: front, device: "emulator:sesame5", tags: [new] }}
  - {{ name: back, device: "emulator:sesame5?defect=jam-reported-as-locked", tags: [new] }}
  - {{ name: old, device: "emulator:sesame3", tags: [old] }}
"""
    PLAN = """nightly: Emulators
duration: 30 min
retries: 10
suites:
  - {{ name: new, scenarios: {root}/Scenarios/sesame5, tags: [new] }}
  - {{ name: old, scenarios: {root}/Scenarios/sesame3, tags: [old] }}
"""

    def __init__(self, lockstep, draw, folder):
        self.lockstep, self.draw, self.folder, self.out = lockstep, draw, Path(folder), Path(folder) / "out"
        self.kills = 0
        (self.folder / "bench.yaml").write_text(self.BENCH.format(process=os.getpid()))
        (self.folder / "plan.yaml").write_text(self.PLAN.format(root=ROOT))
        self.environment = {**os.environ, "LOCKSTEP_STATE": str(self.folder / "state" / "lockstep"), "TERM": "dumb"}

    def start(self):
        return subprocess.Popen(
            [self.lockstep, "nightly", "plan.yaml", "--bench", "bench.yaml", "--seed", "7", "--out", "out", "--quiet"],
            cwd=self.folder, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def go(self, longest):
        while True:
            process = self.start()
            try:
                _, errors = process.communicate(timeout=self.draw.uniform(0, longest))
                if process.returncode != 1:
                    fail(f"the night ended with {process.returncode}: {errors}")
                return
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                self.kills += 1
                if night(self.out):
                    check_record(record(night(self.out)))
                    # Killed when everything was done: the same command would begin the next night.
                    if (night(self.out) / "summary.json").exists():
                        return

    def results(self):
        folder = night(self.out)
        lines = record(folder)
        if "finish" not in lines[-1]:
            fail(f"{folder}: the record has no end")
        results = check_record(lines)
        # What a child wrote down as its verdict counts, whoever was killed then.
        runs = {line["start"]["run"]: line["start"].get("case") for line in lines if "start" in line}
        agreed = [runs[run] for run in journals(folder) if runs.get(run)]
        if len(agreed) != len(set(agreed)):
            fail(f"{folder}: {sorted(case for case in set(agreed) if agreed.count(case) > 1)} agreed twice")
        return results, outcomes(self.out / "junit.xml")


def emulators(arguments, draw):
    with tempfile.TemporaryDirectory() as folder:
        whole = Emulators(arguments.lockstep, draw, folder)
        begin = time.monotonic()
        whole.go(600)
        length = time.monotonic() - begin
        expected = whole.results()
    kills = nights = 0
    while kills < arguments.kills:
        with tempfile.TemporaryDirectory() as folder:
            trial = Emulators(arguments.lockstep, draw, folder)
            trial.go(length / 4)
            if trial.results() != expected:
                mine, whole = trial.results()[0], expected[0]
                odd = {case: (whole.get(case), mine.get(case)) for case in {*mine, *whole} if mine.get(case) != whole.get(case)}
                fail(f"the night is not as one that nobody killed: {odd}")
            kills, nights = kills + trial.kills, nights + 1
            if sys.stderr.isatty():
                print(f"\r{kills} kills", end="", file=sys.stderr, flush=True)
    print(f"{kills} kills of {nights} nights of {len(expected[0])} cases: none lost, none twice")


# MARK: locks on the air

PLAN = """nightly: Third floor
duration: {duration}
actuations: 2000
retries: 60
suites:
  - {{ name: smoke, scenarios: {root}/Scenarios/peers, tags: [sesame5], repeat: {rounds}, case-timeout: 1 min,
      retries: 1, actuations: 20 }}
"""

LOCKED = """scenario: The lock is parked
machine: sesame
steps:
  - closeTo
  - connect
  - until: { status: [locked, unlocked, moved] }
  - expect: { status: locked }
  - disconnect
"""


def floor_kills(arguments, draw):
    with tempfile.TemporaryDirectory() as folder, Floor(arguments.lockstep, folder, locks=2, seconds=3600) as floor:
        floor.bench()
        (floor.folder / "plan.yaml").write_text(PLAN.format(duration="50 min", root=ROOT, rounds=6))
        kills = 0
        while True:
            process = subprocess.Popen(
                floor.command("nightly", "plan.yaml", "--quiet"), cwd=floor.folder, env=floor.environment,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
            try:
                left = arguments.floor_kills - kills
                _, errors = process.communicate(timeout=draw.uniform(0, 20) if left > 0 else 1800)
                if process.returncode not in (0, 3, 5):
                    fail(f"the night ended with {process.returncode}: {errors}")
                break
            except subprocess.TimeoutExpired:
                if draw.random() < 0.5:
                    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
                    for child in children:
                        os.kill(int(child), signal.SIGKILL)
                process.kill()
                process.communicate()
                kills += 1
        run = night(floor.folder / "Reports")
        check_record(record(run))
        summary = json.loads((run / "summary.json").read_text())
        (floor.folder / "locked.yaml").write_text(LOCKED)
        for lock in summary["locks"]:
            name = lock["lock"]
            moved = floor.starts(name)
            if lock["life"] < moved:
                fail(f"the motor of {name} started {moved} times, and {lock['life']} are counted")
            look = subprocess.run(
                floor.command("run", "locked.yaml", "--device", f"lock:{name}", "--park", "as-found", "--quiet", "--out", "look"),
                cwd=floor.folder, env=floor.environment, capture_output=True, text=True)
            if look.returncode != 0 and not lock["bad"]:
                fail(f"{name} is said to be parked: {look.stdout}{look.stderr}")
        print(
            f"{kills} kills of a night of {summary['planned']} cases on locks on the air: {summary['agree']} agree, "
            f"no count is low, each lock is parked or said not to be")


def demo(arguments):
    with tempfile.TemporaryDirectory() as folder, Floor(arguments.lockstep, folder) as floor:
        floor.bench()
        (floor.folder / "plan.yaml").write_text(PLAN.format(duration="4 min", root=ROOT, rounds=4))
        process = subprocess.Popen(
            floor.command("nightly", "plan.yaml"), cwd=floor.folder, env=floor.environment,
            stdout=subprocess.PIPE, text=True)
        record_path = lambda: [line for run in (floor.folder / "Reports/runs").glob("*-nightly") for line in record(run)]
        done = lambda: sum("done" in line for line in record_path())
        floor.wait(lambda: done() >= 2, "no case comes to an end", 120)
        floor.ask("lock-1", {"fault": "jam"})
        floor.wait(lambda: done() >= 5, "no more cases come to an end", 120)
        floor.kill("air-b")
        page, _ = process.communicate(timeout=600)
        print(page)
        summary = json.loads((night(floor.folder / "Reports") / "summary.json").read_text())
        locks = {lock["lock"]: lock for lock in summary["locks"]}
        dongles = {dongle["dongle"]: dongle for dongle in summary["dongles"]}
        wrong = [
            words for words, holds in {
                "the night ends with 1": process.returncode == summary["status"] == 1,
                "lock-1 diverges": any(item["lock"] == "lock-1" for item in summary["divergences"]),
                "lock-1 is out of use": locks["lock-1"]["state"] == "out of use",
                "lock-1 is said not to be parked": locks["lock-1"]["left"] == "NOT PARKED",
                "lock-2 is parked": locks["lock-2"]["left"] == "locked" and not locks["lock-2"]["bad"],
                "lock-2 did all it should": locks["lock-2"]["judged"] == locks["lock-2"]["planned"],
                "air-a is in use": not dongles["air-a"]["bad"], "air-b is out of use": dongles["air-b"]["bad"],
                "no other lock is taken for broken": all(
                    locks[name]["state"] == "in use" for name in ("lock-2", "lock-3", "lock-4")),
                "what was not run has its reason": sum(group["count"] for group in summary["notRun"]) > 0,
                "every case has a result": summary["planned"] == summary["agree"] + sum(
                    len(summary[name]) for name in ("flaky", "divergences", "labFaults")) + sum(
                    group["count"] for name in ("notRun", "skipped") for group in summary[name]),
            }.items() if not holds]
        if wrong:
            fail(f"not so: {', '.join(wrong)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lockstep")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--floor-kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--demo", action="store_true")
    arguments = parser.parse_args()
    arguments.lockstep = str(Path(arguments.lockstep).resolve())
    if arguments.demo:
        return demo(arguments)
    draw = random.Random(arguments.seed)
    if arguments.kills:
        emulators(arguments, draw)
    if arguments.floor_kills:
        floor_kills(arguments, draw)


if __name__ == "__main__":
    main()
