#!/usr/bin/env python3
"""Measures how Lockstep spends its time on the lock on Bumble over rootcanal, driven as a real one.

usage: pace.py LOCKSTEP VENV [MODEL…] [--fuzz-time SECONDS] [--suite] [--gap TIME] [--keep FOLDER]

For each model, sesame5 and sesame3 unless given, a campaign of --fuzz-time (600 s), and with --suite all scenarios in one
process: events, sessions and movements, as the lock itself counts them, and what the time went into. The exit status is 1
when a campaign has fewer than 60 sessions a minute of the time in which nothing is waited for, or fewer than 40 movements in
ten minutes.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
import verdicts

LEAST_SESSIONS = 60  # a minute
LEAST_MOVEMENTS = 40  # in ten minutes


def counts(bench):
    """How often the lock was connected to, and its motor started, so far."""
    log = (bench.folder / "lock.log").read_text(errors="replace")
    return log.count("connected by"), log.count("motor ")


def campaign(bench, seconds):
    """Whether a campaign of so long has the sessions and movements that it should have."""
    status, lines = bench.fuzz(seconds)
    last = next(line["campaign"] for line in reversed(lines) if "campaign" in line)
    sessions, movements = counts(bench)
    lock_time, waited = last["lockTime"], last["waited"]
    busy = sessions / max(lock_time - waited, 1) * 60
    parts = {name: last.get(name, 0) for name in ("motorRest", "air", "confirming", "shrinking")}
    shares = ", ".join(f"{name} {value / lock_time:.0%}" for name, value in parts.items())
    print(
        f"fuzz {seconds} s: status {status}, {last['events']} events in {last['tests']} tests, {sessions} sessions "
        f"({sessions / seconds * 60:.0f} a minute, {busy:.0f} while nothing is waited for), {movements} movements; "
        f"of {lock_time:.0f} s on the lock waited {waited / lock_time:.0%}, {shares}; {last['findings']} findings",
        flush=True)
    for line in lines:
        if str(line.get("diagnostic", "")).startswith("twin"):
            print("  " + line["diagnostic"], flush=True)
    return busy >= LEAST_SESSIONS and movements >= LEAST_MOVEMENTS * seconds / 600


def suite(bench):
    """Tells how long all scenarios take."""
    since, before = time.monotonic(), counts(bench)
    status, lines = bench.run()
    seconds = time.monotonic() - since
    cases = [line for line in lines if "verdict" in line]
    sessions, movements = (now - then for now, then in zip(counts(bench), before))
    print(
        f"suite: status {status}, {len(cases)} cases in {seconds:.0f} s, {sessions} sessions, {movements} movements",
        flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lockstep", metavar="LOCKSTEP")
    parser.add_argument("venv", metavar="VENV")
    parser.add_argument("models", metavar="MODEL", nargs="*", default=["sesame5", "sesame3"])
    parser.add_argument("--over", choices=("rootcanal", "bumble"), default="rootcanal", help="whose controllers")
    parser.add_argument("--fuzz-time", type=int, default=600, help="seconds of fuzzing, 0 for none (600)")
    parser.add_argument("--suite", action="store_true", help="times all scenarios, too")
    parser.add_argument("--gap", help="what the lock's file says of its motor's rest, such as '0 s'")
    parser.add_argument("--keep", type=Path, help="keeps all that the runs leave behind in this folder")
    options = parser.parse_intermixed_args()
    verdicts.separate()
    options.lockstep, options.venv = (str(Path(path).resolve()) for path in (options.lockstep, options.venv))
    scratch = None if options.keep else tempfile.TemporaryDirectory(prefix="pace-")
    folder = (options.keep or Path(scratch.name)).resolve()
    is_good = True
    for model in options.models:
        row = verdicts.Row(model, "healthy", ["*"], model=model, gap=options.gap)
        with verdicts.Bench(row, options, folder / model) as bench:
            print(f"{model} over {options.over}", flush=True)
            if options.fuzz_time > 0:
                is_good = campaign(bench, options.fuzz_time) and is_good
            if options.suite:
                suite(bench)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
