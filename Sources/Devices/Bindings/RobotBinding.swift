extension Binding {
  /// The library for Robot Framework.
  static let robot = [robotHead, pythonRun, robotBody].joined(separator: "\n\n\n") + "\n"

  private static let robotHead = #"""
    """Lockstep's scenarios and campaigns as keywords of Robot Framework.

    One file, no dependencies but Robot Framework 5 or later, Python 3.8 or later.
    """

    import collections
    import ctypes
    import json
    import os
    import queue
    import shlex
    import signal
    import subprocess
    import tempfile
    import threading
    import warnings

    from robot.api import SkipExecution, logger
    from robot.api.deco import keyword, library

    __version__ = "1.0"
    """#

  private static let robotBody = #"""
    @library(scope="GLOBAL", version=__version__, doc_format="ROBOT")
    class LockstepLibrary:
        """Drives a lock and its model in lockstep, and fails at the first moment at which the two disagree.

        | *** Settings ***
        | Library    LockstepLibrary    device=emulator:sesame5    seed=42
        |
        | *** Test Cases ***
        | A Jam Is Told
        |     Run Scenario    Scenarios/sesame5/jam.yaml
        |
        | No Short Way To A Divergence
        |     Fuzz Machine    sesame    events=20k

        A divergence fails the keyword: its message shows model and device side by side, the line of the scenario, and the line
        to paste that replays it. Trouble of the lab says nothing of the lock: its message begins with ``LabTrouble:``, and that
        of a call that is wrong, or of what was not brought to an end, with ``LockstepError:``. What is skipped skips the test,
        with the reason.

        Each keyword is a call of the command ``lockstep``; its journal and reports are in the folder ``out``.
        """

        def __init__(self, device=None, seed=None, out="Reports", command=None, args=""):
            """What keywords are not told otherwise.

            | =Argument= | =Meaning= |
            | device | the device in place of the scenarios' own, as for ``lockstep run --device`` |
            | seed | the seed of everything that is drawn |
            | out | where journals and reports go |
            | command | where lockstep is, or a line that starts it; else the variable LOCKSTEP, else the PATH |
            | args | more options of ``lockstep run``, as in a shell |
            """
            self._device, self._seed, self._out = device, seed, out
            self._command, self._args = _words(command), shlex.split(args)

        @keyword
        def run_scenario(self, path, device=None, seed=None, *options):
            """Runs a scenario, and fails if model and device disagree.

            ``path`` is that of its file. More ``options`` are those of ``lockstep run``, such as ``--retries=2``. Returns how
            many observations of the device the verdict rests on.

            | Run Scenario    Scenarios/sesame5/jam.yaml    device=emulator:sesame5?defect=deaf-unlock    seed=42
            """
            return self._run_all([path], device, seed, options)

        @keyword
        def run_scenarios(self, *paths, device=None, seed=None, filter=None):
            """Runs scenarios, or folders of them, in one run; without any those of the folder ``Scenarios``.

            ``filter`` chooses among them, as ``lockstep run --filter`` does. Each that diverges is told; the keyword is skipped
            where all were. Returns how many observations of the device the verdicts rest on.

            | Run Scenarios    Scenarios/sesame5    Scenarios/sesame3    filter=tag(smoke)
            """
            return self._run_all(paths, device, seed, [f"--filter={filter}"] if filter else [])

        @keyword
        def replay(self, file, device=None):
            """Does a saved counterexample or a scenario again, and fails if it still diverges.

            | Replay    Reports/failures/jam-8f31c2.yaml    device=lock:front-door.yaml
            """
            words = ["replay", "--format=json"] + self._given(device=device or self._device) + ["--", file]
            return self._judge(_Run(self._command + words))

        @keyword
        def fuzz_machine(self, machine, events=1000, device=None, seed=None, *options):
            """Draws tests of a machine, so many ``events`` in all, and fails if one makes model and device disagree.

            What is found is shrunk and saved, and the message says how it is replayed. More ``options`` are those of ``lockstep
            fuzz``, such as ``--actuations=200``.

            | Fuzz Machine    sesame    events=20k    device=emulator:sesame5
            """
            words = ["fuzz", "--format=json", f"--steps={events}", f"--out={self._out}"]
            words += self._given(device=device or self._device, seed=seed or self._seed) + list(options)
            return self._judge(_Run(self._command + words + ["--", machine]))

        def _given(self, **options):
            return [f"--{name}={value}" for name, value in options.items() if value is not None]

        def _run_all(self, paths, device, seed, options):
            words = ["run", "--no-config", "--format=json", "-vv", "--show-progress=none", f"--out={self._out}"]
            words += self._given(device=device or self._device, seed=seed or self._seed)
            words += self._args + list(options)
            # Of a job of several parts each has the tests that Robot gives it: Lockstep takes a part of them only when told to.
            if not any(word.startswith("--shard") for word in words):
                words.append("--shard=1/1")
            return self._judge(_Run(self._command + words + ["--"] + list(paths)))

        def _judge(self, run):
            """Waits for the end of a run, and raises what it came to unless all agree."""
            try:
                cases = list(run.cases())
            except BaseException:
                # A timeout, or somebody who wants no more of it.
                run.stop()
                run.end()
                raise
            status = run.end()
            self._log(run, cases)
            words = {word: [case for case in cases if case.word == word] for word in _WORDS}
            found = [case.text for case in words["divergence"]] + [_found(finding) for finding in run.findings if status == 1]
            if found or status == 1:
                raise Divergence("\n\n".join(found) or run.fault("a divergence"))
            if words["lab-fault"] or status == 3:
                raise LabTrouble("\n\n".join(case.text for case in words["lab-fault"]) or _fault(run))
            if words["incomplete"] or status not in (0, 4):
                raise LockstepError("\n\n".join(case.text for case in words["incomplete"]) or _fault(run))
            if status == 4 and not cases:
                raise LockstepError(run.fault("nothing was run"))
            if status == 4:
                raise SkipExecution("\n".join(dict.fromkeys(case.message for case in words["skipped"])))
            return sum(case.verdict.get("observations", 0) for case in words["agree"])

        def _log(self, run, cases):
            for case in cases:
                if case.isFlaky:
                    logger.warn(f"{case.file} is flaky: it agreed at try {case.tries}")
                elif case.word == "skipped" and len(cases) > 1:
                    logger.info(f"{case.file} is skipped: {case.message}")
                elif case.word != "agree" and case.trace:
                    logger.info(f"{case.file}\n{case.trace}")
            for diagnostic in run.diagnostics:
                logger.info(diagnostic)


    _WORDS = ("agree", "skipped", "incomplete", "lab-fault", "divergence")


    def _found(finding):
        """What a campaign found, for a person."""
        lines = [finding["message"], f"    in {finding['shortest']} events, {finding['confirmation']['verdict']}"]
        if finding.get("file"):
            lines.append("  " + shlex.join(["lockstep", "replay", finding["file"]]))
        return "\n".join(lines)


    def _fault(run):
        """Why a run without cases did not end well."""
        return run.fault("\n".join(run.diagnostics) or "nothing came of it")
    """#
}
