#!/usr/bin/env python3
"""Shows what Lockstep says of the lock on Bumble with each of its faults and habits, as a table.

usage: verdicts.py LOCKSTEP VENV [NAME…] [--jobs N] [--over rootcanal|bumble] [--fuzz-time SECONDS] [--fuzz-only]
                   [--keep FOLDER]

Each lock is driven as a real one, in real time, without a control socket: behind a controller of its own, with a lock
file, an odometer and a folder of reports of its own, several side by side. A fault must be named by the scenarios that
show it, or within --fuzz-time of fuzzing (600 s): a case diverges, or a finding is confirmed, and what is said of it is
what the table expects. A lock with a habit, or with nothing odd, must be accused of nothing: each case agrees or is
skipped with a reason, and two minutes of fuzzing find nothing. The exit status is 1 when a fault is missed or a habit
accused, and 3 when nothing was but trouble.

Everything is on the loopback, for root in a network namespace of its own, and ends with the script.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

PEERS = Path(__file__).resolve().parent
ROOT = PEERS.parent.parent
LOCK = PEERS / "bumble" / "sesame_lock.py"
# The keys are those of the published test vectors. What only the lock has of a Sesame 3 is its `er`.
SECRETS = {
    "sesame5": ["secret: d948215b7f16c6d281fe80037f2c37c4"],
    "sesame3": [
        "secret: 14206e77f82c25fb4f12ff1826c0f828",
        "public-key: 87336130c7ccaca4f43acd2b0c0f41e241a486374893941994466d6a07b4942f"
        "54e5975af1a32223d9fa3fcd0c9967e5c06b08a8c43785e7b35320b6c2a38452",
    ],
}
OWN_SECRETS = ["er: 101112131415161718191a1b1c1d1e1f"]
ALLOWED = [word for name in ("reset", "register", "configure") for word in ("--allow", name)]
FUZZ_OF_HABITS = 120  # seconds
LONGEST_RUN = 1500  # seconds, for scenarios; far more than they take
WRONG_CALL = 2

VISIT = "peers/there-and-back"
LONG_VISIT = "sesame5/lock-and-unlock"
AGAIN = "sesame5/reconnect"
UNFINISHED = "sesame5/false-proofs"
# What a lock with a habit is driven through.
ROUTINE = [
    VISIT, LONG_VISIT, AGAIN, "sesame5/aborted-logins", "sesame5/autolock-shortened", "sesame5/change-of-mind",
    "sesame5/history", "sesame5/leave-while-moving", "sesame5/plaintext-command", "sesame5/replayed-login",
    "sesame5/wrong-secret", "sesame5/version-and-time", "sesame5/reset-and-register-again",
]
# What is read of the history and the clock.
RECORDS = [
    "sesame5/history-numbers", "sesame5/history-times", "sesame5/history-of-one-second",
    "sesame5/history-of-the-last-owner", "sesame5/clock-set-at-login", "sesame5/larger-mtu", "sesame5/long-tags",
    "sesame5/battery-after-a-failed-request",
]
# What nobody can wait for: an hour in which nothing happens.
LEFT_OUT = ("idle.yaml",)
OS2 = "-os2"  # what the name of a row ends with that is of a Sesame 3
SHARES = 4  # locks with nothing odd, among which all scenarios of a model are divided


@dataclass
class Row:
    """A lock, what it is driven through, and what must be said of it: a pattern, or None for nothing."""

    name: str
    kind: str
    scenarios: list
    named: str | None = None
    model: str = "sesame5"
    share: str | None = None
    gap: str | None = None  # what it says of its motor's rest
    neighbour: bool = False  # whether another lock is on the same air

    @property
    def oddity(self):
        """The fault or habit, whatever lock has it."""
        return self.name.removesuffix(OS2)


def of_os2(rows):
    """The same of a Sesame 3."""
    return [
        Row(row.name + OS2, row.kind, [name.replace("sesame5/", "sesame3/") for name in row.scenarios if name != VISIT],
            row.named, "sesame3")
        for row in rows
    ]


def fault(name, *scenarios, named, **options):
    """A fault, the scenarios that show it, and what fits of that which is said of it."""
    return Row(name, "fault", list(scenarios), named, **options)


def habit(name, *scenarios):
    return Row(name, "habit", [*ROUTINE, *scenarios])


def healthy(model):
    """Locks with nothing odd, which share all scenarios."""
    return [
        Row(f"{model}-{share}", "healthy", ["*"], model=model, share=f"{share}/{SHARES}")
        for share in range(1, SHARES + 1)
    ]


ROWS = [
    *healthy("sesame5"),
    *healthy("sesame3"),
    # What it says.
    fault("wrong-tag", VISIT, named="not-authentic"),
    fault("answer-to-nothing", VISIT, named="answer-to-nothing"),
    fault("answer-names-another", VISIT, named="answer-to-another|answer-to-nothing"),
    fault("unlock-unanswered", LONG_VISIT, named="no-answer"),
    fault("publish-before-login", VISIT, named="before-login|clear-text"),
    fault("status-in-clear", VISIT, named="clear-text"),
    fault("stray-frame", VISIT, named="unexpected-frame"),
    fault("stray-frames-on-connecting", VISIT, named="unexpected-frame"),
    fault("clear-text-on-connecting", VISIT, named="before-token"),
    fault("long-frames-after-mtu", "sesame5/history", named="frame-too-long"),
    fault("unknown-kind", VISIT, named="unknown-kind"),
    fault("unfinished-message", VISIT, named="unfinished-message"),
    fault("empty-frame", VISIT, named="empty-frame"),
    fault("too-long", VISIT, named="message-too-long"),
    fault("truncated-status", VISIT, named="undecodable"),
    fault("result-undefined", VISIT, named="undefined-result"),
    fault("status-missing-after-login", VISIT, named="no-status"),
    fault("messages-sent-twice", VISIT, named="replayed"),
    fault("counter-skips", VISIT, named="counter-jump"),
    fault("counter-kept-across-sessions", AGAIN, named="counter-jump"),
    fault("token-repeated", AGAIN, "sesame5/replayed-login", named="token-repeated|session-key-reused"),
    fault("token-missing-every-second-time", AGAIN, named="no-token|shows waitingGatt"),
    fault("key-told", VISIT, named="key-exposed"),
    fault("status-lags-one-behind", VISIT, named="status unlocked within 5 s, the device shows locked"),
    fault("rest-unpublished", VISIT, named="status unlocked within 5 s, the device shows locked"),
    fault("moving-after-rest", "sesame5/autolock-shortened", named="no-rest"),
    # Whom it obeys.
    fault("login-proof-unchecked", "sesame5/wrong-secret", named="accepted a false proof"),
    fault("login-proof-replayed", "sesame5/replayed-login", named="accepted a replayed login"),
    fault(
        "plaintext-command-obeyed", "sesame5/plaintext-command",
        named="obeyed a forged command: an unlock in clear"),
    fault(
        "replayed-command-obeyed", "sesame5/replayed-command", "sesame5/replayed-messages",
        named="obeyed a replayed message"),
    fault(
        "replayed-session-obeyed", "sesame5/replayed-command-next-session", "sesame5/replayed-sessions",
        named="obeyed a replayed message"),
    fault(
        "reset-keeps-key", "sesame5/old-key-without-an-owner", "sesame5/old-key",
        named="accepted the key of a former owner"),
    fault("reset-ignored", "sesame5/reset-disconnect", named="readytoRegister"),
    # What it does.
    fault("deaf-unlock", VISIT, named="status unlocked within 5 s, the device shows locked"),
    fault("autolock-change-ignored", "sesame5/autolock-shortened", named="status locked within 110 s"),
    fault(
        "autolock-from-login", "sesame5/autolock-after-a-pause",
        named="showed locked, which the model does not allow"),
    fault(
        "autolock-outlives-reset", "sesame5/autolock-of-the-last-owner",
        named="the autolock time outlives the reset"),
    fault(
        "silent-after-three-visits", UNFINISHED,
        named=r"unheard: the lock was not heard for (39|4\d)\.\d s, and then it was"),
    fault(
        "gone-after-three-visits", UNFINISHED, neighbour=True,
        named="unheard: the lock was not heard, and another device was"),
    fault("hasty-unlock-stops-half-way", "sesame5/forty-turns", gap="0 s", named="moved"),
    fault("settings-lost-on-reconnect", AGAIN, named="showed nosetting"),
    fault("history-never-empties", "sesame5/history", named="history"),
    fault("long-tag-mangled", "sesame5/history-tag", "sesame5/long-tags", named="history"),
    fault("record-numbers-restart", "sesame5/history-numbers", named="numbers of records do not ascend"),
    fault("record-time-lost", "sesame5/history-times", named="another time than the clock"),
    fault("records-exchanged", "sesame5/history-of-one-second", named="follows a later one"),
    fault("tag-of-command-before", "sesame5/history-tag", named="history"),
    fault("record-twice", "sesame5/history-times", named="was recorded before"),
    fault("history-outlives-reset", "sesame5/history-of-the-last-owner", named="history shows a command"),
    fault("clock-never-set-back", "sesame5/clock-set-at-login", named="clock was set and is wrong again"),
    fault("long-request-spoils-next", "sesame5/long-messages", named="(three|four)-frames"),
    fault("login-never-answered", AGAIN, named="no answer to login"),
    fault("setting-unpublished", "sesame5/register", named="awaiting: the setting"),
    # Habits.
    habit("status-twice"),
    habit("unknown-publishes"),
    habit("slow-answers"),
    habit("links-dropped-at-once"),
    habit("clock-slow", *RECORDS),
    habit("clock-fast", *RECORDS),
    habit("movements-recorded", *RECORDS),
    habit("small-history", *RECORDS),
    habit("numbers-with-gaps", *RECORDS),
    habit("token-twice"),
    habit("token-again"),
    habit("early-ciphertext"),
    habit("leftover-ciphertext"),
    habit("leftover-frame"),
    habit("answers-last", "sesame5/register"),
    habit("autolock-from-next-unlocking", "sesame5/autolock-while-unlocked"),
    *of_os2([
        fault("record-numbers-restart", "sesame5/history-numbers", named="numbers of records do not ascend"),
        fault("record-time-lost", "sesame5/history-times", named="another time than the clock"),
        fault("records-exchanged", "sesame5/history-of-one-second", named="follows a later one"),
        fault("history-outlives-reset", "sesame5/history-of-the-last-owner", named="history shows a command"),
        fault("clock-never-set-back", "sesame5/clock-set-at-login", named="clock was set and is wrong again"),
        habit("clock-fast", *RECORDS),
        habit("movements-recorded", *RECORDS),
        habit("small-history", *RECORDS),
        habit("leftover-ciphertext"),
        habit("leftover-frame"),
        habit("answers-last", "sesame5/register"),
        habit("autolock-from-next-unlocking", "sesame5/autolock-while-unlocked"),
        habit("login-after-registration-ignored", "sesame5/register-and-login"),
        habit("owned-identity-ignored", "sesame5/registration-of-an-owned-lock"),
        fault("login-never-answered", AGAIN, named="no answer to login"),
        fault("moving-after-rest", "sesame5/autolock-shortened", named="no-rest"),
        fault("stray-frames-on-connecting", AGAIN, named="unexpected-frame"),
    ]),
    habit("born-with-positions", "sesame5/reset-disconnect"),
    habit("small-frames"),
    habit("slow-advertising"),
    habit("more-services"),
    habit("status-first"),
    habit("publishes-when-registered"),
    habit("chatty-motor"),
]


class Trouble(Exception):
    pass


class Bench:
    """The lock of one row behind a controller, until it is left."""

    ports = iter(range(20000, 32000))
    lock = threading.Lock()
    # A campaign computes before it drives the lock, and others, who are in real time, need processors too.
    fuzzing = threading.BoundedSemaphore(os.cpu_count() or 1)
    all_programs = []

    def __init__(self, row, options, folder):
        self.row, self.options, self.folder = row, options, folder
        self.programs = []
        self.seconds = 0.0

    def __enter__(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.environment = {
            **os.environ, "PYTHONUNBUFFERED": "1", "LOCKSTEP_STATE": str(self.folder / "state" / "lockstep"), "NO_COLOR": "1"}
        self.keyfile = self.folder / "lock.yaml"
        lines = [f"lock: {self.row.model}", f"uuid: {uuid.uuid4()}", *SECRETS[self.row.model]]
        known = [f"gap: {self.row.gap}"] if self.row.gap else []
        self.keyfile.write_text("\n".join([*lines, *known, ""]))
        self.keyfile.chmod(0o600)
        # The lock's program has a file of its own: that of Lockstep changes with a registration.
        own = self.folder / "own.yaml"
        own.write_text("\n".join([*lines, *OWN_SECRETS, ""]))
        with Bench.lock:
            first, *others = (next(Bench.ports) for _ in range(4))
        try:
            transport = f"bumble:{first}"
            if self.options.over == "rootcanal":
                names = ("-test_port", "-link_port", "-link_ble_port")
                places = [str(word) for pair in zip(names, others) for word in pair]
                start = str(PEERS / "rootcanal" / "start.sh")
                self.start(
                    "rootcanal", [start, self.options.venv, self.folder / "rc", "-hci_port", first, *places],
                    "initialize: Finished")
                transport = f"tcp-client:127.0.0.1:{first}"
            odd = [] if self.row.kind == "healthy" else ["--" + self.row.kind, self.row.oddity]
            python = Path(self.options.venv) / "bin" / "python"
            self.start("lock", [python, LOCK, transport, own, "--seconds", 7200, "--turn", 0.5, *odd], "ready")
            if self.row.neighbour:
                other = self.folder / "neighbour.yaml"
                other.write_text("\n".join([lines[0], f"uuid: {uuid.uuid4()}", *lines[2:], *OWN_SECRETS, ""]))
                self.start("neighbour", [python, LOCK, transport, other, "--seconds", 7200], "ready")
        except Trouble:
            self.__exit__()
            raise
        self.transport = f"tcp-client:127.0.0.1:{first}"
        return self

    def begin(self, command, output, errors):
        program = subprocess.Popen(
            command, cwd=ROOT, env=self.environment, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
        self.programs.append(program)
        Bench.all_programs.append(program)
        return program

    def start(self, name, command, text):
        """Starts a program and waits until it says that it is ready."""
        log = self.folder / f"{name}.log"
        with open(log, "wb") as output:
            self.begin(list(map(str, command)), output, output)
        limit = time.monotonic() + 30
        while text not in log.read_text(errors="replace"):
            if self.programs[-1].poll() is not None or time.monotonic() > limit:
                raise Trouble(f"{name} does not start: {log.read_text(errors='replace')[-500:]}")
            time.sleep(0.05)

    def __exit__(self, *_):
        for program in reversed(self.programs):
            stop(program)

    def run(self, *words):
        return self.lockstep("run", [*paths(self.row), *words], LONGEST_RUN)

    def fuzz(self, seconds):
        with Bench.fuzzing:
            return self.lockstep("fuzz", ["sesame", "--duration", f"{seconds}s"], seconds + 300)

    def lockstep(self, command, words, limit):
        """Runs Lockstep on the lock; its exit status and the objects that it printed."""
        data, talk = self.folder / f"{command}.json", self.folder / f"{command}.log"
        since = time.monotonic()
        with open(data, "wb") as output, open(talk, "wb") as errors:
            program = self.begin(
                [self.options.lockstep, command, *words, "--format", "json", "--transport", self.transport, "--device",
                 f"lock:{self.keyfile}", "--out", str(self.folder / command), "--actuations", "2000", *ALLOWED],
                output, errors)
            try:
                status = program.wait(limit)
            except subprocess.TimeoutExpired:
                stop(program)
                raise Trouble(f"'{command}' did not end in {limit} s") from None
        self.seconds += time.monotonic() - since
        if status == WRONG_CALL:
            raise Trouble(talk.read_text(errors="replace"))
        lines = data.read_text(errors="replace").splitlines()
        return status, [json.loads(line) for line in lines if line.startswith("{")]


def stop(program):
    """Asks a program to end, and kills it when it does not."""
    if program.poll() is None:
        program.terminate()
        try:
            program.wait(20)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()


def paths(row):
    """The files of its scenarios."""
    if row.scenarios != ["*"]:
        return [f"Scenarios/{name}.yaml" for name in row.scenarios]
    files = sorted((ROOT / "Scenarios" / row.model).glob("*.yaml"))
    return [str(path.relative_to(ROOT)) for path in files if path.name not in LEFT_OUT]


@dataclass
class Result:
    row: Row
    command: str
    verdict: str
    said: str
    seconds: float
    is_good: bool


def texts(case):
    """What is said of a case or of a finding."""
    words = [str(case.get(key, "")) for key in ("violation", "message", "observed", "signature")]
    return "\n".join(words + list(map(str, case.get("details", []))))


def summary(case):
    place = f"{Path(case['case']).name}: " if "case" in case else ""
    return place + " ".join(filter(None, (case.get("violation"), case.get("message"))))


def judge_fault(bench, row, options):
    """Whether the fault is named by its scenarios, or else by fuzzing."""

    def fitting(cases):
        return [case for case in cases if re.search(row.named, texts(case))]

    said = []
    if row.scenarios and not options.fuzz_only:
        _, lines = bench.run()
        bad = [line for line in lines if line.get("verdict") not in (None, "agree", "skipped")]
        if named := fitting(case for case in bad if case["verdict"] == "divergence"):
            return Result(row, "run", "named", summary(named[0]), bench.seconds, True)
        said += map(summary, bad)
    command = "run"
    if options.fuzz_time > 0:
        command = "fuzz"
        status, lines = bench.fuzz(options.fuzz_time)
        findings = [line["finding"] for line in lines if "finding" in line]
        if named := fitting(one for one in findings if one["confirmation"]["verdict"] == "confirmed"):
            return Result(row, command, "named", summary(named[0]), bench.seconds, True)
        said += [f"{summary(one)} ({one['confirmation']['verdict']})" for one in findings]
        said += [] if findings else [f"fuzz: nothing found, status {status}"]
    verdict = "otherwise" if said else "missed"
    return Result(row, command, verdict, "; ".join(said), bench.seconds, False)


def judge_habit(bench, row, options):
    """Whether nobody accuses the lock."""
    status, lines = bench.run(*(["--shard", row.share] if row.share else []))
    cases = [line for line in lines if "verdict" in line]
    bad = [case for case in cases if case["verdict"] not in ("agree", "skipped")]
    said = [summary(case) for case in bad]
    agree = sum(case["verdict"] == "agree" for case in cases)
    is_accused = any(case["verdict"] == "divergence" for case in bad)
    is_good = status == 0 and not bad and agree > 0
    if options.fuzz_time > 0:
        status, lines = bench.fuzz(min(FUZZ_OF_HABITS, options.fuzz_time))
        findings = [line["finding"] for line in lines if "finding" in line]
        said += [f"fuzz: {summary(one)} ({one['confirmation']['verdict']})" for one in findings]
        if status != 0 and not findings:
            said += [f"fuzz: status {status}"]
            said += sorted({line["diagnostic"] for line in lines if str(line.get("diagnostic", "")).startswith("trouble")})
        is_accused = is_accused or bool(findings)
        is_good = is_good and status == 0 and not findings
    verdict = "agrees" if is_good else "accused" if is_accused else "trouble"
    said = said or [f"{agree} agree, {sum(case['verdict'] == 'skipped' for case in cases)} skipped"]
    command = "run, fuzz" if options.fuzz_time > 0 else "run"
    return Result(row, command, verdict, "; ".join(said), bench.seconds, is_good)


def judge(row, options):
    judges = {"fault": judge_fault, "habit": judge_habit, "healthy": judge_habit}
    try:
        with Bench(row, options, options.keep / f"{options.over}-{row.name}") as bench:
            return judges[row.kind](bench, row, options)
    except Trouble as trouble:
        return Result(row, "", "trouble", str(trouble), 0, False)


def line(result):
    kind = "" if result.row.kind == "healthy" else result.row.kind
    said = " ".join(result.said.split())
    return (
        f"{'✔' if result.is_good else '✘'} {kind:5} {result.row.name:31} {result.command:9} {result.verdict:9} "
        f"{result.seconds:5.0f} s  {said}")


def separate():
    """Goes on where nobody else hears it and nothing outlives it: in namespaces of its own, where that is permitted."""
    command = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if os.geteuid() == 0 and "LOCKSTEP_OWN_NETWORK" not in os.environ:
        if subprocess.run([*command, "true"], stderr=subprocess.DEVNULL).returncode == 0:
            os.environ["LOCKSTEP_OWN_NETWORK"] = "1"
            script = 'ip link set lo up; exec "$@"'
            os.execvp("unshare", [*command, "sh", "-c", script, "sh", sys.executable, *sys.argv])


def end(number, _):
    """Stops all that was started, and ends."""
    for program in list(Bench.all_programs):
        stop(program)
    os._exit(128 + number)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lockstep", metavar="LOCKSTEP")
    parser.add_argument("venv", metavar="VENV")
    parser.add_argument("names", metavar="NAME", nargs="*", help="these rows only, such as sesame5-1 or wrong-tag")
    parser.add_argument("--jobs", type=int, default=8, help="how many locks at once (8)")
    parser.add_argument("--over", choices=("rootcanal", "bumble"), default="rootcanal", help="whose controllers")
    parser.add_argument("--fuzz-time", type=int, default=600, help="seconds of fuzzing, 0 for none (600)")
    parser.add_argument("--fuzz-only", action="store_true", help="looks for faults by fuzzing alone")
    parser.add_argument("--keep", type=Path, help="keeps all that the runs leave behind in this folder")
    options = parser.parse_intermixed_args()
    unknown = set(options.names) - {row.name for row in ROWS}
    if unknown:
        parser.error(f"no such fault or habit: {', '.join(sorted(unknown))}")
    separate()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    options.lockstep, options.venv = (str(Path(path).resolve()) for path in (options.lockstep, options.venv))
    # Two locks on one air need controllers that are not the lock's own.
    possible = [row for row in ROWS if options.over == "rootcanal" or not row.neighbour]
    rows = [row for row in possible if not options.names or row.name in options.names]
    scratch = None if options.keep else tempfile.TemporaryDirectory(prefix="verdicts-")
    options.keep = (options.keep or Path(scratch.name)).resolve()
    results = {}
    since = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        for row, future in [(row, pool.submit(judge, row, options)) for row in rows]:
            results[row.name] = future.result()
            print(line(results[row.name]), flush=True)
    good = sum(result.is_good for result in results.values())
    print(f"{good} of {len(rows)} as they should be, in {time.monotonic() - since:.0f} s over {options.over}")
    if any(result.verdict == "trouble" for result in results.values()):
        return 3 if good + sum(r.verdict == "trouble" for r in results.values()) == len(rows) else 1
    return 0 if good == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
