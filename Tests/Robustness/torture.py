#!/usr/bin/env python3
"""Makes every call fail by which a command reaches what is outside of it, each in every way, and holds what is left to
what is promised.

usage: torture.py LOCKSTEP [--share I/N] [--draw TEXT] [--only SUBJECT] [--jobs N] [--canaries] [--show]

First each subject, a command on a small suite, is run with a record of its calls. Then it is run once for each call and
each thing that may happen to it: an error that the call can give, a disk that is full from there on, half of what was
asked for, and the death of the process right before it and right after it. Those that write are run once more for a loss
of power at each call that changes the disk. After each:

- the command ended by itself, with a status that is true: green only with all of its work done, and never 70;
- what is not green says a sentence of why;
- each journal reads, no case is judged twice, and no verdict is one that the suite does not have;
- a JUnit report that is there is whole, and of this run or of the one before;
- the next run goes on and comes to the verdicts of one to which nothing happened, and sweeps what was left.

--share I/N does the Ith of N parts, drawn by --draw; of nights an eighth of that. --canaries shows that programs with one check or one
synchronization left out are found. --show prints each violation in full.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

# A case that agrees, one that diverges, one that is skipped, and one with a program as its device.
SUITE = {
    "a-agrees": """
scenario: A door opens and closes
machine: door
device: door
steps: [Open, { expect: { status: Opened } }, Close, { expect: { status: Closed } }]
""",
    "b-diverges": """
scenario: A lock that calls a jam locked
machine: sesame
device: { lock: sesame5, registered: true, configured: true, bolt: unlocked, defect: jam-reported-as-locked }
steps: [closeTo, connect, { until: { status: unlocked, within: 15 s } }, fault: jam, lock,
  { expect: { status: moved, within: 6 s } }]
""",
    "c-program": """
scenario: A door that is a program
machine: door
device: "exec:sh door.sh"
steps: [Open, { expect: { status: Opened } }, Close, { expect: { status: Closed } }]
""",
    "d-agrees": """
scenario: A door opens twice
machine: door
device: door
steps: [Open, Close, Open, { expect: { status: Opened } }]
""",
}

# What is said of them where nothing happens.
VERDICTS = {"a-agrees": "agree", "b-diverges": "divergence", "c-program": "agree", "d-agrees": "agree"}

# It is started thousands of times, and a shell starts at once.
PROGRAM = r"""
status=Closed
while read -r line; do
  case $line in
  *'"reset"'*) status=Closed ;;
  *'"stimulus":"Open"'*) status=Opened ;;
  *'"stimulus":"Close"'*) status=Closed ;;
  esac
  printf '{"status":"%s"}\n{"settled":true}\n' "$status"
done
"""

BENCH = """
bench: torture-{name}
locks:
  - {{ name: front, device: "emulator:sesame5?defect=jam-reported-as-locked" }}
"""

PLAN = """
nightly: Torture
duration: 20 s
retries: 10
suites:
  - { name: all, scenarios: cases }
"""

# What a night drives: one case that agrees, one that diverges.
CASES = {
    "logs-in": """
scenario: A login
machine: sesame
device: { lock: sesame5, registered: true, configured: true }
steps: [closeTo, connect, { until: { status: [locked, unlocked, moved], within: 15 s } }]
""",
    "jams": SUITE["b-diverges"].replace(", defect: jam-reported-as-locked", ""),
}

# What changes the disk: the calls at which power is lost.
CHANGES = {"write", "synchronize", "rename", "unlink", "link", "mkdir", "truncate", "close"}


class Violation(Exception):
    pass


def judged(journal):
    """The verdicts of a journal, in order; what is not JSON may be its last line alone."""
    found = []
    lines = journal.read_bytes().split(b"\n")
    for number, line in enumerate(lines):
        if not line:
            continue
        try:
            record = json.loads(line)
        except ValueError:
            if number < len(lines) - 1:
                raise Violation(f"{journal.name}, line {number + 1}, is no JSON: {line[:80]!r}")
            continue
        if "verdict" in record and "case" in record:
            found.append((record["case"].split("/")[-1], record["verdict"]))
    return found


def outcomes(report):
    """The outcome of each test case; a report that is not whole is a violation."""
    try:
        tree = ElementTree.parse(report)
    except ElementTree.ParseError as error:
        raise Violation(f"{report.name} is no XML: {error}")
    cases = {}
    for case in tree.iter("testcase"):
        kinds = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
        name = (case.get("classname") or "").split(".")[-1] + "/" + (case.get("name") or "")
        if name in cases:
            raise Violation(f"{report.name} has {name} twice")
        cases[name] = kinds
    return cases


class Subject:
    """A command, what it needs and what is promised of it."""

    # The status where nothing happens, the name, and of how many parts one is done even where all are asked for.
    status = 0
    name = ""
    sparseness = 1

    def __init__(self, lockstep, home):
        self.lockstep = lockstep
        self.template = home / "template"
        self.template.mkdir(parents=True)
        self.prepare()

    def environment(self, folder):
        return {
            **{key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "NOTIFY_SOCKET")},
            "LOCKSTEP_STATE": str(folder / "state/lockstep"), "TERM": "dumb", "LC_ALL": "C.UTF-8"}

    def run(self, folder, *words, faults="-", children="-", record=None, timeout=600):
        command = [self.lockstep, *words]
        if record is not None:
            command = [f"{self.lockstep}-workbench", "faulty", str(record), faults, children, "--", *words]
        try:
            return subprocess.run(
                command, cwd=folder, env=self.environment(folder), stdin=subprocess.DEVNULL, capture_output=True,
                text=True, errors="replace", timeout=timeout)
        except subprocess.TimeoutExpired:
            raise Violation(f"{' '.join(words[:2])} does not end")

    def suite(self):
        (self.template / "suite").mkdir()
        for name, text in SUITE.items():
            (self.template / "suite" / f"{name}.yaml").write_text(text.lstrip())
        (self.template / "door.sh").write_text(PROGRAM)

    def prepare(self):
        self.suite()

    def arrange(self, folder):
        """Gives a trial what no other may have at the same time."""

    def words(self, folder):
        raise NotImplementedError

    def check(self, folder, result):
        raise NotImplementedError


# A program on a busy machine may take seconds to start: that is no fault of what is tortured.
PATIENCE = ["--answer-timeout", "240s"]

RUN = ["run", "suite", "--seed", "1", "--quiet", "--out", "out", *PATIENCE]


class Run(Subject):
    name = "run"
    status = 1

    def prepare(self):
        super().prepare()
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "clean"
            shutil.copytree(self.template, folder)
            result = self.run(folder, *RUN)
            if result.returncode != 1:
                sys.exit(f"torture.py: the suite ended with {result.returncode}: {result.stderr}")
            self.verdicts = judged(self.runs(folder)[0] / "journal.jsonl")
            if dict(self.verdicts) != VERDICTS:
                sys.exit(f"torture.py: without a fault the verdicts are {self.verdicts}: {result.stderr}")
            self.outcomes = outcomes(folder / "out/junit.xml")

    def words(self, folder):
        return RUN

    @staticmethod
    def runs(folder):
        return sorted(path for path in (folder / "out/runs").glob("*") if not path.name.startswith("."))

    def check(self, folder, result):
        junit = folder / "out/junit.xml"
        if result.returncode == self.status and not junit.exists() and "junit.xml" not in result.stderr:
            raise Violation("there is no report, and nobody is told why")
        if result.returncode == self.status and junit.exists():
            found = outcomes(junit)
            # Trouble of the lab, with a program or with the journal, is shown as such.
            if found != self.outcomes and not any(kinds == ["error"] for kinds in found.values()):
                raise Violation(f"it ended with {self.status}, and its report is another")
        if junit.exists():
            outcomes(junit)
        self.checkJournals(folder, result)
        self.goOn(folder)

    def checkJournals(self, folder, result):
        expected = dict(self.verdicts)
        for run in self.runs(folder):
            found = judged(run / "journal.jsonl")
            final = [(case, verdict) for case, verdict in found if verdict in ("agree", "divergence", "skipped")]
            if len({case for case, _ in final}) != len(final):
                raise Violation(f"a case is judged twice: {final}")
            for case, verdict in final:
                if expected.get(case) != verdict:
                    raise Violation(f"{case} is said to be '{verdict}', and is '{expected.get(case)}'")
            report = self.run(folder, "report", str(run), "--out", "again", "--html", "none", "--quiet")
            if report.returncode not in (0, 1, 3, 5) and report.returncode != result.returncode:
                raise Violation(f"report ends with {report.returncode}: {report.stderr.strip()}")
            outcomes(folder / "again/junit.xml")

    def goOn(self, folder):
        """The next run finishes what is there, or is the first."""
        runs = self.runs(folder)
        before = judged(runs[0] / "journal.jsonl") if runs else []
        words = ["run", "--resume", str(runs[0]), "--quiet", "--out", "out", *PATIENCE] if runs else RUN
        result = self.run(folder, *words)
        if result.returncode != self.status:
            raise Violation(f"the next run ends with {result.returncode}: {result.stderr.strip()}")
        found = judged(self.runs(folder)[0] / "journal.jsonl")
        if found[: len(before)] != before:
            raise Violation("what was judged is gone after the next run")
        final = dict(found)
        if final != dict(self.verdicts):
            raise Violation(f"after the next run the verdicts are {final}")
        if outcomes(folder / "out/junit.xml") != self.outcomes:
            raise Violation("after the next run the report is another")
        left = [
            path for path in (folder / "out").rglob("*")
            if path.name.endswith(".new") or path.name.startswith(".") and path.name not in (".held", ".in-use")
            and not path.name.startswith(".power-")]
        if left:
            raise Violation(f"after the next run there is still {left[0].relative_to(folder)}")


class Resume(Run):
    """A run that is taken up again, killed when two of four cases were judged."""

    name = "resume"

    def prepare(self):
        super().prepare()
        record = self.template / "record"
        self.run(self.template, *RUN, record=record)
        lines = record.read_text().splitlines()
        writes = [line for line in lines if line.startswith("write@System/Descriptors")]
        shutil.rmtree(self.template / "out")
        self.run(self.template, *RUN, record=record, faults=f"{writes[len(writes) // 2]}=death-after")
        record.unlink()
        done = judged(self.runs(self.template)[0] / "journal.jsonl")
        if not 0 < len(done) < len(SUITE):
            sys.exit(f"torture.py: the run to be taken up again has {len(done)} verdicts")

    def words(self, folder):
        run = str(self.runs(folder)[0].relative_to(folder))
        return ["run", "--resume", run, "--quiet", "--out", "out", *PATIENCE]


class Report(Run):
    """Reports of a run that is complete."""

    name = "report"

    def prepare(self):
        super().prepare()
        self.run(self.template, *RUN)
        shutil.rmtree(self.template / "state", ignore_errors=True)

    def words(self, folder):
        return ["report", str(self.runs(folder)[0].relative_to(folder)), "--out", "out"]


class History(Report):
    """A run that is taken into a history."""

    name = "history"
    status = 0

    def prepare(self):
        super().prepare()
        for path in (self.template / "out").glob("history.sqlite*"):
            path.unlink()

    def words(self, folder):
        return ["history", "add", str(self.runs(folder)[0].relative_to(folder)), "--out", "out"]

    def check(self, folder, result):
        again = self.run(folder, *self.words(folder))
        if again.returncode != 0:
            raise Violation(f"history add then ends with {again.returncode}: {again.stderr.strip()}")
        listed = self.run(folder, "history", "runs", "--out", "out", "--format", "json")
        names = [line for line in listed.stdout.splitlines() if '"' in line]
        if listed.returncode != 0 or len(names) != 1:
            raise Violation(f"the history then has {len(names)} runs: {listed.stderr.strip()}")


FUZZ = ["fuzz", "door", "--device", "exec:sh door.sh", "--steps", "8", "--seed", "1", "--quiet", "--out", "out", *PATIENCE]


class Fuzz(Subject):
    """A campaign."""

    name = "fuzz"
    extra = []

    def words(self, folder):
        return FUZZ + self.extra

    def campaigns(self, folder):
        return sorted(path for path in (folder / "out/runs").glob("*") if not path.name.startswith("."))

    def check(self, folder, result):
        junit = folder / "out/junit.xml"
        if result.returncode == 0 or junit.exists():
            outcomes(junit)
        for run in self.campaigns(folder):
            report = self.run(folder, "report", str(run), "--out", "again", "--html", "none", "--quiet")
            if report.returncode not in (0, 1, 3, 5) and report.returncode != result.returncode:
                raise Violation(f"report ends with {report.returncode}: {report.stderr.strip()}")
            outcomes(folder / "again/junit.xml")
        runs = self.campaigns(folder)
        words = self.words(folder)
        if runs:
            words = ["fuzz", "door", "--resume", str(runs[0]), *self.words(folder)[2:]]
            words = [word for word in words if word not in ("--seed", "1")]
        again = self.run(folder, *words)
        # A test that came to no verdict is not done again, and so the campaign has none on it either.
        if again.returncode == 3 and result.returncode == 3 and "no verdict" in again.stdout:
            return
        if again.returncode != 0:
            raise Violation(f"the next campaign ends with {again.returncode}: {again.stderr.strip()}")
        outcomes(junit)


class FuzzJobs(Fuzz):
    """A campaign of two processes."""

    name = "fuzz-jobs"
    extra = ["--jobs", "2"]


class Night(Subject):
    """A night over one emulated lock, each of whose cases is a process."""

    name = "nightly"
    status = 1
    # A night takes two seconds, and what its children do is done by the runs too.
    sparseness = 8

    def prepare(self):
        (self.template / "cases").mkdir()
        for name, text in CASES.items():
            (self.template / "cases" / f"{name}.yaml").write_text(text.lstrip())
        (self.template / "plan.yaml").write_text(PLAN.lstrip())
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "clean"
            shutil.copytree(self.template, folder)
            self.arrange(folder)
            result = self.run(folder, *self.words(folder))
            if result.returncode != 1:
                sys.exit(f"torture.py: the night ended with {result.returncode}: {result.stderr}{result.stdout}")
            self.outcomes = outcomes(folder / "out/junit.xml")

    def arrange(self, folder):
        name = hashlib.sha256(str(folder).encode()).hexdigest()[:12]
        (folder / "bench.yaml").write_text(BENCH.lstrip().format(name=name))

    def words(self, folder):
        return ["nightly", "plan.yaml", "--bench", "bench.yaml", "--seed", "7", "--quiet", "--out", "out"]

    def check(self, folder, result):
        junit = folder / "out/junit.xml"
        if junit.exists():
            outcomes(junit)
        # A lock that the night has put out of use is put back, as the night asks a person to do.
        self.run(folder, "devices", "restore", "front", "--bench", "bench.yaml")
        # Where the night is not over, the same command goes on with it; and where it is, it begins the next.
        again = self.run(folder, *self.words(folder))
        if again.returncode != self.status:
            raise Violation(f"the next night ends with {again.returncode}: {again.stderr.strip()}")
        if outcomes(junit) != self.outcomes:
            raise Violation(f"after the next night the report is another: {outcomes(junit)}")
        for record in (folder / "out/runs").glob("*-nightly*/night.jsonl"):
            lines = [json.loads(line) for line in record.read_bytes().split(b"\n")[:-1] if line]
            done = [line["done"]["case"] for line in lines if "done" in line]
            if len(done) != len(set(done)):
                raise Violation(f"a case has two results: {done}")


SUBJECTS = [Run, Resume, Report, History, Fuzz, FuzzJobs, Night]


class Trial:
    """One thing that happens to one call of a subject."""

    def __init__(self, subject, fault, where):
        self.subject, self.fault, self.where = subject, fault, where

    def __str__(self):
        return f"{self.subject.name}: {self.fault}" + (" in a child" if self.where == "children" else "")

    def perform(self):
        """Gives whether the call was made, and the violation where there is one."""
        with tempfile.TemporaryDirectory(prefix="torture-") as place:
            folder = Path(place) / "trial"
            shutil.copytree(self.subject.template, folder, symlinks=True)
            self.subject.arrange(folder)
            record = Path(place) / "record"
            nothing = "none@none#1=EIO"
            own, children = (self.fault, nothing) if self.where == "own" else (nothing, self.fault)
            result = None
            try:
                result = self.subject.run(
                    folder, *self.subject.words(folder), faults=own, children=children, record=record)
                hasHappened = record.exists() and self.fault.rsplit("=", 1)[0].split(",")[-1] in record.read_text()
                self.judge(result, hasHappened)
                self.subject.check(folder, result)
                return hasHappened, None
            except (Violation, FileNotFoundError) as violation:
                words = f"{violation}"
                if result is not None:
                    words += f" [status {result.returncode}: {result.stderr.strip()[-300:]}]"
                return True, words

    def judge(self, result, hasHappened):
        kind = self.fault.rsplit("=", 1)[1]
        if "pretence" in self.fault and kind == "pretence":
            return
        isDeath = kind in ("death-before", "death-after", "power-loss") and self.where == "own"
        if isDeath and hasHappened:
            if result.returncode != -9:
                raise Violation("it outlived its death")
            return
        if result.returncode < 0:
            raise Violation(f"it ended by signal {-result.returncode}")
        # A pipe that breaks by itself, and a worker that cannot read what it is asked, are nobody's fault but ours.
        isOwn = self.subject.name == "fuzz-jobs" and kind in ("EPIPE", "EIO") and result.returncode == 70
        if result.returncode not in (self.subject.status, 0, 1, 2, 3, 5) and not isOwn:
            raise Violation(f"the status is {result.returncode}")
        if result.returncode == 0 and self.subject.status == 1:
            raise Violation("it is green")
        if result.returncode == 1 and self.subject.status == 0:
            raise Violation("it has found a fault of the device")
        if result.returncode != self.subject.status and not (result.stderr + result.stdout).strip():
            raise Violation(f"it ended with {result.returncode} without a word")


def calls(subject):
    """What a subject calls, and what the processes do that it starts."""
    with tempfile.TemporaryDirectory(prefix="torture-") as place:
        folder = Path(place) / "trial"
        shutil.copytree(subject.template, folder, symlinks=True)
        subject.arrange(folder)
        own, both = Path(place) / "own", Path(place) / "both"
        result = subject.run(folder, *subject.words(folder), children="none@none#1=EIO", record=own)
        if result.returncode != subject.status:
            sys.exit(f"torture.py: {subject.name} ended with {result.returncode}: {result.stderr}")
        folder = Path(place) / "second"
        shutil.copytree(subject.template, folder, symlinks=True)
        subject.arrange(folder)
        subject.run(folder, *subject.words(folder), faults="none@none#1=EIO", children="-", record=both)
        lines = own.read_text().splitlines()
        # Each child counts for itself.
        children = list(dict.fromkeys(both.read_text().splitlines())) if both.exists() else []
        return list(dict.fromkeys(lines)), children


def canaries(lockstep, home):
    """Programs with something left out: each must be found, and the same without that must not."""
    subject = Run(lockstep, home / "canaries")
    own, _ = calls(subject)
    last = [line for line in own if "SQLite" not in line][-1]
    sound = Trial(subject, f"{last}=power-loss", "own").perform()[1]
    if sound:
        sys.exit(f"torture.py: a loss of power at the end is said to break a promise: {sound}")
    found = {}
    for line in own:
        if line.startswith("synchronize@"):
            found.setdefault("synchronize", {})[line] = Trial(
                subject, f"{line}=pretence,{last}=power-loss", "own").perform()[1]
        elif line.startswith("write@System/Descriptors"):
            found.setdefault("write", {})[line] = Trial(subject, f"{line}=pretence", "own").perform()[1]
    for call, results in found.items():
        caught = [(line, words) for line, words in results.items() if words]
        print(f"canary: of {len(results)} calls of {call}, one left out, {len(caught)} are noticed"
              + (f": {caught[0][0]}: {caught[0][1][:100]}" if caught else ""))
        if not caught:
            sys.exit(f"torture.py: a program without a {call} is not noticed")


def trials(subjects, kinds):
    for subject in subjects:
        own, children = calls(subject)
        for where, lines in (("own", own), ("children", children)):
            for line in lines:
                call = line.split("@")[0]
                for kind in kinds[call]:
                    yield Trial(subject, f"{line}={kind}", where)
                if call in CHANGES and "SQLite" not in line and where == "own":
                    yield Trial(subject, f"{line}=power-loss", where)


def drawn(trial, share, draw):
    part, count = share
    digest = hashlib.sha256(f"{draw} {trial}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % count == part - 1


def conclude(todo, missed, violations, where, begin, isShown):
    """Sums up what came of the trials, and ends the program. What was shown one by one is not listed again."""
    counts = collections.Counter((re.sub(r"#\d+", "", str(trial)), violation[:90]) for trial, violation in violations)
    for (place, words), count in [] if isShown else counts.most_common(60):
        print(f"{count:5} {place}: {words}")
    print(
        f"{len(todo) - missed} faults at {where}, {len(violations)} violations, "
        f"{missed} calls that were not made again, {time.monotonic() - begin:.0f} s")
    sys.exit(1 if violations or not todo else 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lockstep")
    parser.add_argument("--share", default="1/1")
    parser.add_argument("--draw", default="")
    parser.add_argument("--only")
    parser.add_argument("--call", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--canaries", action="store_true")
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    lockstep = str(Path(arguments.lockstep).resolve())
    share = tuple(int(part) for part in arguments.share.split("/"))
    listed = subprocess.run([f"{lockstep}-workbench", "faulty", "kinds"], capture_output=True, text=True, check=True).stdout
    kinds = {line.split()[0]: line.split()[1:] for line in listed.splitlines()}

    begin = time.monotonic()
    if arguments.canaries:
        with tempfile.TemporaryDirectory(prefix="torture-") as home:
            canaries(lockstep, Path(home))
        return
    with tempfile.TemporaryDirectory(prefix="torture-") as home:
        subjects = [
            kind(lockstep, Path(home) / kind.name) for kind in SUBJECTS
            if arguments.only in (None, kind.name)]
        todo = [
            trial for trial in trials(subjects, kinds)
            if drawn(trial, (share[0], share[1] * trial.subject.sparseness), arguments.draw) and arguments.call in str(trial)]
        missed, violations = 0, []
        places = {re.sub(r"#.*", "", trial.fault) for trial in todo}
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            for number, (trial, (hasHappened, violation)) in enumerate(
                    zip(todo, pool.map(Trial.perform, todo)), 1):
                missed += not hasHappened
                if violation:
                    violations.append((trial, violation))
                    if arguments.show:
                        print(f"{trial}\n    {violation}", flush=True)
                if sys.stderr.isatty():
                    print(f"\r{number} of {len(todo)}, {len(violations)} violations", end="", file=sys.stderr, flush=True)
    conclude(todo, missed, violations, f"{len(places)} places in {len(subjects)} commands", begin, arguments.show)


if __name__ == "__main__":
    main()
