#!/usr/bin/env python3
"""Kills runs at random moments, and holds what is left to what is promised.

usage: kills.py LOCKSTEP [--kills N] [--seed N] [PATH...]

One run after the other is started and killed with SIGKILL, taken up again and killed again, until it comes to its end.
After each kill `lockstep report` must give XML that xmllint reads and that is not green, and say that the run is
incomplete. At the end each case must have one judgement: none lost, none twice, none judged again; and the report must
be that of a run nobody killed.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def fail(text):
    print("kills.py: " + text, file=sys.stderr)
    sys.exit(1)


def verdicts(journal):
    """The ids that are judged, in order, from the lines that are whole."""
    found = []
    for line in journal.read_bytes().split(b"\n")[:-1]:
        record = json.loads(line)
        if record.get("verdict") in ("agree", "divergence", "skipped") and not record.get("again"):
            found.append(record["case"])
    return found


def outcomes(report):
    """Class, name and outcome of each test case."""
    cases = {}
    for case in ElementTree.parse(report).iter("testcase"):
        kinds = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
        key = (case.get("classname"), case.get("name"))
        if key in cases:
            fail(f"{report}: {key} stands there twice")
        cases[key] = kinds
    return cases


class Trial:
    def __init__(self, lockstep, paths, draw, folder):
        self.lockstep, self.paths, self.draw, self.out = lockstep, paths, draw, Path(folder)
        self.kills = 0

    def command(self, *words):
        return [self.lockstep, *words, "--out", str(self.out)]

    def runs(self):
        return sorted(path for path in (self.out / "runs").glob("*") if not path.name.startswith("."))

    def start(self):
        words = ["run", *self.paths, "--seed", "7", "--quiet"]
        if self.runs():
            words = ["run", "--resume", str(self.runs()[0]), "--quiet"]
        return subprocess.Popen(
            self.command(*words), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def go(self, length):
        """Kills and takes up again until the run ends; gives how long the last sitting took."""
        judged = []
        while True:
            process = self.start()
            try:
                _, errors = process.communicate(timeout=self.draw.uniform(0, length))
                if process.returncode != 0:
                    fail(f"the run ended with {process.returncode}: {errors}")
                return
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                self.kills += 1
                judged = self.check(judged)

    def check(self, before):
        """What a killed run left must be there to report and to go on with."""
        if not self.runs():
            return before
        run = self.runs()[0]
        done = verdicts(run / "journal.jsonl")
        if done[: len(before)] != before:
            fail(f"{run}: what was judged before is not there any more")
        # A line that is torn off says nothing.
        lines = (run / "journal.jsonl").read_bytes().splitlines(keepends=True)
        hasEnded = any(line.startswith(b'{"end"') and line.endswith(b"\n") for line in lines)
        report = subprocess.run(self.command("report", str(run)), capture_output=True, text=True)
        if report.returncode != (0 if hasEnded else 5):
            fail(f"report of {run} ended with {report.returncode}: {report.stdout}{report.stderr}")
        if not hasEnded and "incomplete" not in report.stdout:
            fail(f"report of {run} does not say that it is incomplete: {report.stdout}")
        xml = self.out / "junit.xml"
        subprocess.run(["xmllint", "--noout", str(xml)], check=True)
        if not hasEnded and b"<error" not in xml.read_bytes():
            fail(f"{xml} is green, and the run was killed")
        return done


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lockstep")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("paths", nargs="*", default=["Scenarios"])
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)

    with tempfile.TemporaryDirectory() as folder:
        whole = Trial(arguments.lockstep, arguments.paths, draw, folder)
        begin = time.monotonic()
        whole.go(600)
        length = time.monotonic() - begin
        expected = outcomes(whole.out / "junit.xml")
        order = verdicts(whole.runs()[0] / "journal.jsonl")
    if len(set(order)) != len(order) or not order:
        fail("a run nobody killed has no cases, or one twice")

    kills = runs = 0
    while kills < arguments.kills:
        with tempfile.TemporaryDirectory() as folder:
            trial = Trial(arguments.lockstep, arguments.paths, draw, folder)
            trial.go(length)
            if len(trial.runs()) != 1:
                fail(f"there are {len(trial.runs())} runs where one was taken up again")
            done = verdicts(trial.runs()[0] / "journal.jsonl")
            if done != order:
                lost, more = set(order) - set(done), [name for name in set(done) if done.count(name) > 1]
                fail(f"lost {sorted(lost)}, twice {sorted(more)}")
            if outcomes(trial.out / "junit.xml") != expected:
                fail("the report is not that of a run nobody killed")
            kills, runs = kills + trial.kills, runs + 1
            if sys.stderr.isatty():
                print(f"\r{kills} kills", end="", file=sys.stderr, flush=True)
    print(f"{kills} kills of {runs} runs of {len(order)} cases: none lost, none twice")


if __name__ == "__main__":
    main()
