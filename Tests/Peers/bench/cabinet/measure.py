#!/usr/bin/env python3
"""Measures what `lockstep fuzz` finds in the cabinet locks, and prints a table.

usage: measure.py LOCKSTEP [--lock NAME] [--held-back | --races | --healthy] [--only BUG,…] [--seeds N] [--steps N]

Healthy locks get --steps events in all for each loss (a million unless given), the others as many for each seed (200,000).
"""

import argparse
import importlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
EXEC = "exec:python3 lock.py %s"
DRIVER = "driver:python3 driver.py?peripheral=python3 lock.py %s&loss=%g"
LOCKS = {"cabinet": EXEC, "cabinet-ble": DRIVER}
RACES = ["1000ms", "500ms", "250ms", "50ms", "10ms"]
LOSSES = [0, 0.01, 0.2]


def load(lock):
    """The bugs of a lock, as a module."""
    sys.path.insert(0, str(HERE / lock))
    try:
        return importlib.import_module("bugs")
    finally:
        sys.path.pop(0)
        # Each lock has modules of these names.
        for name in ("lock", "bugs"):
            sys.modules.pop(name, None)


def bugs(lock, isHeldBack):
    """The bugs that can be planted in a lock, with a sentence each."""
    module = load(lock)
    return {name: bug.__doc__ for name, bug in (module.HELD_BACK if isHeldBack else module.PLANTED).items()}


def environment(lockstep, folder):
    """An environment in which programs find lockstep_device."""
    module = subprocess.run([lockstep, "bindings", "python"], capture_output=True, text=True, check=True).stdout
    pathlib.Path(folder, "lockstep_device.py").write_text(module)
    return dict(os.environ, PYTHONPATH=folder, PYTHONDONTWRITEBYTECODE="1")


def fuzz(lockstep, folder, machine, device, seed, steps, more=()):
    """Runs a campaign: its findings, its last figures, and what it says besides."""
    out = tempfile.mkdtemp(prefix="cabinet-")
    command = [
        lockstep, "fuzz", machine, "--device", device, "--seed", str(seed), "--steps", str(steps), "--out", out,
        "--format", "json", "--history", "none", "--html", "none", *more]
    start = time.monotonic()
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment(lockstep, out))
    shutil.rmtree(out, ignore_errors=True)
    lines = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    findings = [line["finding"] for line in lines if "finding" in line]
    campaign = next((line["campaign"] for line in reversed(lines) if "campaign" in line), {})
    if ended.returncode not in (0, 1):
        print(f"  status {ended.returncode}: {' '.join(command)}\n{ended.stderr[-500:]}", file=sys.stderr)
    return findings, campaign, time.monotonic() - start


def planted(lockstep, lock, argument, seed, steps):
    """Fuzzes a lock with what its program gets as argument."""
    device = LOCKS[lock] % (argument if LOCKS[lock] is EXEC else (argument, 0))
    return fuzz(lockstep, HERE / lock, f"{lock}.yaml", device, seed, steps)


def confirmed(findings):
    """The first finding of a campaign that is confirmed, or None."""
    return next((finding for finding in findings if finding["confirmation"]["verdict"] == "confirmed"), None)


def row(name, what, seeds, search):
    """One line of the table: what several seeds came to."""
    found, lengths, messages, seconds = [], [], set(), 0
    for seed in range(1, seeds + 1):
        findings, campaign, took = search(seed)
        seconds += took
        finding = confirmed(findings)
        messages |= {f"{other['confirmation']['verdict']}: {other['message']}" for other in findings if other is not finding}
        if finding:
            found.append(finding["events"])
            lengths.append(finding["shortest"])
            messages.add(finding["message"])
    cells = [
        name, f"{len(found)}/{seeds}", f"{statistics.median(found):,.0f}" if found else "-",
        f"{max(found):,}" if found else "-", f"{statistics.median(lengths):.0f}" if lengths else "-", f"{seconds:.0f} s",
        what.splitlines()[0], "; ".join(sorted(messages))]
    print("| " + " | ".join(cells) + " |", flush=True)
    return len(found) == seeds


def healthy(lockstep, only, steps):
    """Fuzzes five healthy locks: whatever is found is a false alarm, or a machine that promises too much."""
    print("| lock | loss | events | found | not reproduced | no verdict | what was said |\n|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, kind in (("new-driver", "driver"), ("new-exec", "exec")):
            subprocess.run([lockstep, "new", name, "--kind", kind, "--quiet"], cwd=folder, check=True)
        locks = [
            ("cabinet", HERE / "cabinet", EXEC), ("cabinet-ble", HERE / "cabinet-ble", DRIVER), ("locker", HERE / "locker", EXEC),
            ("new-driver", pathlib.Path(folder, "new-driver"), DRIVER),
            ("new-exec", pathlib.Path(folder, "new-exec"), "exec:python3 device.py %s")]
        alarms = 0
        for name, where, form in locks:
            if only and name not in only.split(","):
                continue
            for loss in LOSSES if form is DRIVER else [None]:
                device = form % (("", loss) if form is DRIVER else "")
                findings, campaign, _ = fuzz(lockstep, where, f"{name}.yaml", device, 1, steps, ["--keep-going"])
                confirmed = [finding for finding in findings if finding["confirmation"]["verdict"] == "confirmed"]
                alarms += len(confirmed)
                said = "; ".join(f"{finding['signature']} ({finding['events']:,} events, {finding['confirmation']['verdict']})"
                                 for finding in findings)
                cells = [
                    name, "-" if loss is None else f"{loss:.0%}", f"{campaign.get('events', 0):,}", str(len(confirmed)),
                    str(len(findings) - len(confirmed)), str(campaign.get("unjudged")), said]
                print("| " + " | ".join(cells) + " |", flush=True)
    print(f"\n{alarms} false alarms")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lockstep", type=pathlib.Path)
    parser.add_argument("--lock", choices=LOCKS)
    parser.add_argument("--held-back", action="store_true")
    parser.add_argument("--races", action="store_true")
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--steps", type=int)
    options = parser.parse_args()
    lockstep = str(options.lockstep.resolve())
    if options.healthy:
        return healthy(lockstep, options.only, options.steps or 1_000_000)
    print("| bug | found | events, median | worst | shrunk to | took | what is wrong | what was said |")
    print("|---|---|---|---|---|---|---|---|")
    rows = []
    for lock in [options.lock] if options.lock else LOCKS:
        names = {race: "" for race in RACES} if options.races else bugs(lock, options.held_back)
        for name, what in names.items():
            if options.only and name not in options.only.split(","):
                continue
            argument = ("race=" if options.races else "bug=") + name
            rows.append(row(
                f"{lock} {name}", what or f"A PIN in the last {name} before it relocks leaves it unlocked for good.",
                options.seeds or (10 if options.races else 3),
                lambda seed: planted(lockstep, lock, argument, seed, options.steps or 200_000)))
    print(f"\n{sum(rows)} of {len(rows)} found by every seed")


if __name__ == "__main__":
    main()
