#!/usr/bin/env python3
"""Makes each call fail by which a run on a real lock reaches what is outside of it, and holds lock and counter to what is
promised.

usage: torture_locks.py LOCKSTEP [--share I/N] [--draw TEXT] [--only SUBJECT] [--call PATTERN] [--jobs N] [--canaries]
                        [--show]

The lock is an emulated one in a process of its own, reached over an emulated controller, and driven as if it were real.
It counts by itself how often its motor starts. First a run is made with a record of its calls. Then it is made once for
each call and each thing that may happen to it, as in torture.py. Calls that belong to leases, to state.sqlite and to
the file of the lock are taken one and all; of the rest, such as those of the transport, the journal and the reports,
--rest I/N takes a part. After each:

- the counter has never less movements than the motor made;
- the motor has not moved more often than --actuations allows;
- the lock is parked, or it is said that it is not, and where the process was killed nothing says that it is parked;
- the command ended by itself, with a status that is true and a sentence where it is not green: 0 only with all of its work
  done and the lock parked, never 1, since the lock did nothing wrong, and never 70;
- the journal reads, and a report of it can be made;
- the next run is green, and leaves the lock parked and the counter right.

--canaries shows that a program that does not wait for its movements to be on the disk, or does not look whether they were
written, is found.
"""

import argparse
import concurrent.futures
import contextlib
import json
import queue
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from floor import Floor
from torture import CHANGES, Violation, conclude, drawn, judged, outcomes

SCENARIO = """scenario: A visit, with the door left open
machine: sesame
steps: [closeTo, connect, { until: { status: locked, within: 20 s } }, unlock,
  { expect: { status: unlocked, within: 5 s } }, disconnect]
"""

# What the scenario and parking take.
MOVES = 2
LOCK = "lock-1"

# The statuses that a run may end with, beside 0: no usage, no lab, budget, incomplete.
STATUSES = (2, 3, 5, 6)

# Where the calls stand that are tried one and all, whatever they are for.
OWN_PLACES = (
    "SQLite", "Bench/", "Transports/EndpointLock", "System/WholeFile")

NOT_AT_REST = re.compile(
    r"could not be brought|is left as it is|not parked|NOT PARKED|left as it was|nobody knows how|see to it")


class Subject:
    """A way to run the scenario on a lock, with a budget that leaves room for doing half of it again."""

    def __init__(self, name, budget, words):
        self.name, self.budget, self.words = name, budget, words


SUBJECTS = [
    Subject("file", 4, lambda floor: [
        "--device", f"lock:keys/{LOCK}.yaml", "--transport", f"tcp-client:127.0.0.1:{floor.airs['air-a']}"]),
    Subject("bench", 6, lambda floor: ["--device", f"lock:{LOCK}", "--check-health"]),
]


class Place:
    """A floor of its own for trials one after the other, each with a state folder of its own."""

    def __init__(self, lockstep, folder):
        folder.mkdir()
        self.floor = Floor(lockstep, folder, locks=1, seconds=7200)
        self.floor.bench(gap="50 ms", **{"cool-down": "1 s"})
        (self.floor.folder / "suite").mkdir()
        (self.floor.folder / "suite/visit.yaml").write_text(SCENARIO)
        self.trials = 0
        self.isSpent = False

    def close(self):
        self.floor.__exit__()

    @property
    def starts(self):
        return self.floor.starts(LOCK)

    def settled(self, seconds=0.4):
        """How often the motor has started, once it does not start any more."""
        count, since = self.starts, time.monotonic()
        while time.monotonic() < since + seconds:
            time.sleep(0.05)
            if self.starts != count:
                count, since = self.starts, time.monotonic()
        return count

    def begin(self):
        """A state folder and a report folder that nobody used."""
        self.trials += 1
        self.state = self.floor.folder / f"state-{self.trials}"
        self.out = self.floor.folder / f"out-{self.trials}"

    def end(self):
        shutil.rmtree(self.state, ignore_errors=True)
        shutil.rmtree(self.out, ignore_errors=True)

    def run(self, *words, faults=None, record=None, timeout=600):
        command = [self.floor.lockstep, *words]
        if record is not None:
            # Where nothing is to fail every call is written down.
            command = [f"{self.floor.lockstep}-workbench", "faulty", str(record), faults or "-", "none@none#1=EIO", "--", *words]
        try:
            return subprocess.run(
                command, cwd=self.floor.folder, env={**self.floor.environment, "LOCKSTEP_STATE": str(self.state / "lockstep")},
                stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=timeout)
        except subprocess.TimeoutExpired:
            raise Violation(f"{' '.join(words[:2])} does not end")

    def words(self, subject, out):
        return [
            "run", "suite", *subject.words(self.floor), "--actuations", str(subject.budget), "--seed", "1", "--quiet",
            "--history", "none", "--out", str(out)]

    def counted(self):
        """The movements that are counted; none where nothing is kept yet."""
        path = self.state / "lockstep/state.sqlite"
        if not path.exists():
            return 0
        with contextlib.closing(sqlite3.connect(path, timeout=20)) as database:
            try:
                if not database.execute("SELECT 1 FROM sqlite_schema WHERE name = 'locks'").fetchone():
                    return 0
                return database.execute("SELECT coalesce(sum(movements), 0) FROM locks").fetchone()[0]
            except sqlite3.DatabaseError as error:
                raise Violation(f"what is counted cannot be read: {error}")


def runs(out):
    return sorted(path for path in (out / "runs").glob("*") if not path.name.startswith("."))


def left(journal):
    """Whether a journal says that the lock was left parked; `None` where it says nothing."""
    for line in journal.read_bytes().split(b"\n"):
        if line.startswith(b'{"left"'):
            try:
                return json.loads(line)["left"].get("parked")
            except ValueError:
                return None
    return None


class Trial:
    """Things that happen to calls of a run."""

    def __init__(self, subject, *faults):
        self.subject, self.faults = subject, faults

    def __str__(self):
        return f"{self.subject.name}: {', '.join(self.faults)}"

    def perform(self, place):
        """Gives whether the call was made, and the violation where there is one."""
        place.begin()
        result, record = None, place.floor.folder / f"record-{place.trials}"
        try:
            before = place.settled(0.1)
            result = place.run(
                *place.words(self.subject, place.out), faults=",".join(self.faults), record=record)
            happened = record.read_text().splitlines() if record.exists() else []
            made = [fault for fault in self.faults if fault.rsplit("=", 1)[0] in happened]
            hasHappened = self.faults[0] in made
            isDead = any(fault.rsplit("=", 1)[1] in DEATHS for fault in made)
            moved = place.settled() - before
            self.judge(place, result, moved, isDead)
            self.judgeJournals(place, result, moved, isDead)
            self.goOn(place, moved)
            return hasHappened, None
        except Violation as violation:
            words = f"{violation}"
            if result is not None:
                words += f" [status {result.returncode}: {result.stderr.strip()[-400:]}]"
            return True, words
        finally:
            self.bringBack(place)
            record.unlink(missing_ok=True)
            place.end()

    def judge(self, place, result, moved, isDead):
        if place.counted() < moved:
            raise Violation(f"the motor started {moved} times, and {place.counted()} are counted")
        if moved > self.subject.budget:
            raise Violation(f"the motor started {moved} times, with a budget of {self.subject.budget}")
        if isDead:
            if result.returncode != -9:
                raise Violation("it outlived its death")
            return
        if result.returncode < 0:
            raise Violation(f"it ended by signal {-result.returncode}")
        if result.returncode != 0 and result.returncode not in STATUSES:
            raise Violation(f"the status is {result.returncode}")
        said = result.stdout + result.stderr
        if result.returncode != 0 and not said.strip():
            raise Violation(f"it ended with {result.returncode} without a word")
        isOpen = moved % 2 == 1
        if isOpen and result.returncode == 0:
            raise Violation("it is green, and the lock is unlocked")
        if isOpen and not NOT_AT_REST.search(said):
            raise Violation("the lock is unlocked, and nobody is told")
        # What trouble broke off may have been done again; a health check that cannot be made is no verdict.
        if result.returncode == 0 and moved < MOVES:
            raise Violation(f"it is green after {moved} movements")

    def judgeJournals(self, place, result, moved, isDead):
        isOpen = moved % 2 == 1
        found = runs(place.out)
        for run in found:
            journal = run / "journal.jsonl"
            if not journal.exists():
                continue
            verdicts = judged(journal)
            if any(verdict == "divergence" for _, verdict in verdicts):
                raise Violation("the lock is said to diverge")
            if len(verdicts) != len({case for case, _ in verdicts}):
                raise Violation(f"a case is judged twice: {verdicts}")
            if isOpen and left(journal) is True:
                raise Violation("the lock is said to be parked, and is not")
            report = place.run("report", str(run), "--out", str(place.out / "again"), "--html", "none", "--quiet")
            if report.returncode not in (0, 3, 5, 6, result.returncode):
                raise Violation(f"report ends with {report.returncode}: {report.stderr.strip()[-300:]}")
            if isDead and isOpen and report.returncode == 0:
                raise Violation("the report of a run that was killed with the lock unlocked is green")
            outcomes(place.out / "again/junit.xml")
        junit = place.out / "junit.xml"
        if junit.exists():
            kinds = list(outcomes(junit).values())
            if result.returncode == 0 and (not kinds or any(kinds)):
                raise Violation(f"it is green, and its report is not: {kinds}")
            if ["failure"] in kinds:
                raise Violation("the report says that the lock failed")
        elif result.returncode == 0 and "junit.xml" not in result.stderr:
            raise Violation("there is no report, and nobody is told why")

    def goOn(self, place, moved):
        """The next run, to which nothing happens."""
        before = place.starts
        again = self.next(place)
        total = moved + place.settled() - before
        if again.returncode != 0:
            raise Violation(f"the next run ends with {again.returncode}: {again.stderr.strip()[-400:]}")
        if place.counted() < total:
            raise Violation(
                f"after the next run the motor has started {total} times, and {place.counted()} are counted")
        if total % 2 == 1:
            raise Violation("the next run is green, and leaves the lock unlocked")

    def next(self, place):
        for _ in range(20):
            again = place.run(*place.words(self.subject, place.out / "next"))
            # Somebody may still be parking the lock.
            if "in use by" not in again.stderr:
                break
            time.sleep(0.5)
        return again

    def bringBack(self, place):
        """Whatever was found, the next trial begins with a lock parked."""
        if place.settled(0.1) % 2 == 0:
            return
        place.end()
        place.begin()
        self.next(place)
        if place.settled(0.1) % 2 == 1:
            place.isSpent = True


# MARK: what happens to what

def isOurs(line):
    """Whether a call belongs to what keeps a lock from harm, as far as its place says."""
    where = line.split("@")[1]
    if where.startswith(OWN_PLACES):
        return True
    return line.split("@")[0] in ("lock", "mkdir", "access", "synchronize")


def recorded(place, subject):
    """What a run calls to which nothing happens."""
    place.begin()
    record = place.floor.folder / "record"
    record.unlink(missing_ok=True)
    try:
        result = place.run(*place.words(subject, place.out), record=record)
        if result.returncode != 0:
            sys.exit(f"torture_locks.py: {subject.name} ended with {result.returncode}: {result.stderr}")
        return record.read_text().splitlines()
    finally:
        place.end()


def commits(lines):
    """Where something of the state is made sure to be on the disk, right after it was written."""
    return [
        index for index, line in enumerate(lines)
        if line.startswith("synchronize@SQLite") and lines[index - 1].startswith("write@SQLite")]


def loss(lines):
    """A loss of power right before parking is counted: the motor has moved by then, and not moved back."""
    # The last is that the lock is parked.
    return lines[commits(lines)[-2] - 1] + "=power-loss"


# A folder in which folders may be made, and which may not be read, cannot be synchronized: that is taken as it is.
UNREADABLE = ("EACCES",)
DEATHS = ("death-before", "death-after", "power-loss")


def trials(subject, lines, kinds, rest, draw):
    own, others = [], []
    for line, next in zip(lines, lines[1:] + [""]):
        call = line.split("@")[0]
        # Of the pages that SQLite reads or writes one after the other the last one stands for all.
        is_own = isOurs(line) and not (call in ("read", "write") and line.split("#")[0] == next.split("#")[0])
        names = list(kinds[call])
        if call in CHANGES:
            names.append("power-loss")
        (own if is_own else others).extend(Trial(subject, f"{line}={name}") for name in names)
        # What was refused, and passed over, shows when nothing in memory is left.
        if is_own and call in CHANGES | {"open"} and line != loss(lines).rsplit("=", 1)[0]:
            own += [
                Trial(subject, f"{line}={name}", loss(lines)) for name in names
                if name not in DEATHS and not (line.startswith("open@System/Files") and name in UNREADABLE)]
    return own + [trial for trial in others if drawn(trial, rest, draw)]


def canaries(place, subject, lines):
    """Programs with one thing left out, and what has to be found of each."""
    found = [
        ("does not look whether its movements were written", Trial(subject, f"{lines[index - 1]}=pretence", loss(lines)))
        for index in commits(lines)]
    found += [
        ("does not wait for the disk", Trial(subject, f"{lines[index]}=pretence", loss(lines)))
        for index in commits(lines)]
    return found


def perform(todo, places, show):
    missed, violations = 0, []

    def one(trial):
        place = places.get()
        try:
            return trial.perform(place)
        finally:
            if not place.isSpent:
                places.put(place)

    with concurrent.futures.ThreadPoolExecutor(places.qsize()) as pool:
        for number, (trial, (hasHappened, violation)) in enumerate(zip(todo, pool.map(one, todo)), 1):
            missed += not hasHappened
            if violation:
                violations.append((trial, violation))
                if show:
                    print(f"{trial}\n    {violation}", flush=True)
            if sys.stderr.isatty():
                print(f"\r{number} of {len(todo)}, {len(violations)} violations", end="", file=sys.stderr, flush=True)
    return missed, violations


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lockstep")
    parser.add_argument("--share", default="1/1")
    parser.add_argument("--rest", default="1/20")
    parser.add_argument("--draw", default="")
    parser.add_argument("--only", choices=[subject.name for subject in SUBJECTS])
    parser.add_argument("--call", default="")
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--canaries", action="store_true")
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    lockstep = str(Path(arguments.lockstep).resolve())
    share, rest = (tuple(int(part) for part in text.split("/")) for text in (arguments.share, arguments.rest))
    listed = subprocess.run([f"{lockstep}-workbench", "faulty", "kinds"], capture_output=True, text=True, check=True).stdout
    kinds = {line.split()[0]: line.split()[1:] for line in listed.splitlines()}

    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="torture-") as home:
        places, made = queue.Queue(), []
        try:
            for number in range(arguments.jobs):
                made.append(Place(lockstep, Path(home) / f"floor-{number}"))
                places.put(made[-1])
            subjects = [subject for subject in SUBJECTS if arguments.only in (None, subject.name)]
            records = [(subject, recorded(made[0], subject)) for subject in subjects]
            if arguments.canaries:
                return show_canaries(records, made[0], places)
            todo = [
                trial for subject, lines in records for trial in trials(subject, lines, kinds, rest, arguments.draw)
                if drawn(trial, share, arguments.draw) and re.search(arguments.call, str(trial))]
            sites = {re.sub(r"#.*", "", fault) for trial in todo for fault in trial.faults}
            missed, violations = perform(todo, places, arguments.show)
        finally:
            for place in made:
                place.close()
    conclude(todo, missed, violations, f"{len(sites)} places on {len(made)} locks", begin, arguments.show)


def show_canaries(records, place, places):
    """Each kind of program that is wrong must be found at least once."""
    todo = [(what, trial) for subject, lines in records for what, trial in canaries(place, subject, lines)]
    _, violations = perform([trial for _, trial in todo], places, False)
    words = {str(trial): violation for trial, violation in violations}
    isFound = {what: False for what, _ in todo}
    for what, trial in todo:
        violation = words.get(str(trial))
        if violation and "counted" in violation:
            isFound[what] = True
            print(f"one that {what} is found: {trial}\n    {violation[:120]}")
    for what, found in isFound.items():
        if not found:
            print(f"one that {what} is not found")
    sys.exit(0 if isFound and all(isFound.values()) else 1)


if __name__ == "__main__":
    main()
