extension Binding {
  /// The plugin for pytest.
  static let pytest = [pytestHead, pythonRun, pytestBody, pytestSession].joined(separator: "\n\n\n") + "\n"

  private static let pytestHead = #"""
    """Lockstep's scenarios as tests of pytest.

        # conftest.py, in the folder from which pytest is started
        pytest_plugins = ["lockstep_pytest"]

    or `python -m pytest -p lockstep_pytest`. From then on each `*.yaml` that is a scenario is collected, an item for each
    of its cases, and run by the `lockstep` on the PATH. One that is meant as a scenario and cannot be read is an error;
    files of YAML that are something else are left alone:

        pytest Scenarios
        pytest Scenarios --lockstep-device 'emulator:sesame5?defect=deaf-unlock' --lockstep-seed 42
        pytest Scenarios -m smoke -k jam --lf -x --junitxml junit.xml

    All items of a session are one `lockstep run`, whose journal and reports are in `--lockstep-out`. It begins with the
    first of them, and a test of another kind waits until it has ended: nothing else is at the lock meanwhile. In a worker of
    pytest-xdist, which does not know beforehand what it will be given, each item is a run of its own, in a folder of the
    worker; at the end one report is made of all of them.

        agree         passed; what agreed only when it was tried again is listed as flaky
        divergence    failed: model and device side by side, the line of the scenario, and the line to paste that replays it
        lab fault     error, as is all that was not brought to an end: neither says anything of the lock
        skipped       skipped, with the reason

    Tags of a scenario are marks, and each item has the mark `lockstep`. What each case rests on stands in the properties
    of `--junitxml`.

    One file, no dependencies but pytest 7 or later, Python 3.8 or later.
    """

    import codecs
    import collections
    import ctypes
    import difflib
    import fnmatch
    import json
    import os
    import queue
    import re
    import shlex
    import signal
    import subprocess
    import tempfile
    import threading
    import warnings

    import pytest
    """#

  private static let pytestBody = #"""
    # What pytest asks for.


    def pytest_addoption(parser):
        group = parser.getgroup("lockstep", "scenarios of Lockstep")

        def add(name, metavar, help):
            group.addoption(f"--lockstep-{name}", metavar=metavar, help=help, default=None)
            parser.addini(f"lockstep_{name}", help)

        add("device", "SPEC", "the device in place of the scenarios' own, as for 'lockstep run --device'")
        add("bench", "FILE", "the bench whose locks --lockstep-device may name")
        add("seed", "N", "the seed of everything that is drawn, also in place of a scenario's own")
        add("command", "PATH", "where lockstep is, or a line that starts it; else LOCKSTEP, else the PATH")
        add("args", "WORDS", "more options of 'lockstep run', as in a shell: '--transport usb:0 --retries 2'")
        add("out", "DIR", "where journal and reports go; Reports unless given")


    def pytest_configure(config):
        config._lockstep = _Lockstep(config)
        if config.getoption("dist", "no") != "no":
            config.pluginmanager.register(_Workers(config._lockstep))


    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(session):
        session.config._lockstep.check()


    #: Options of `lockstep run` that pytest has its own for, and these.
    _IN_PLACE = {
        "--filter": "-k or -m", "--last-failed": "--lf", "--failed-first": "--ff", "--max-fail": "--maxfail",
        "--fail-fast": "-x", "--shard": "paths, -k or -m", "--resume": "--lf", "--watch": "another call",
        "--device": "--lockstep-device", "--bench": "--lockstep-bench", "--seed": "--lockstep-seed", "--out": "--lockstep-out",
        "-o": "--lockstep-out",
    }


    def pytest_ignore_collect(collection_path, config):
        # What a run saves of failures are scenarios too, and only meant where they are named.
        return True if collection_path == config._lockstep.out else None


    def pytest_collect_file(file_path, parent):
        if file_path.suffix in (".yaml", ".yml") and _isScenario(file_path):
            return ScenarioFile.from_parent(parent, path=file_path)


    def _isScenario(path):
        """Whether a file is meant as a scenario, also as one that cannot be read: then the command is to say why. A file that
        has nothing to do with Lockstep is left alone."""
        try:
            with open(path, "rb") as file:
                head = _decoded(file.read(1 << 20))
        except OSError:
            # Nobody can know what is in it.
            return True
        first = head.partition("\n")[0]
        if first.startswith("#") and "scenario.schema.json" in first:
            return True
        keys = dict(_keys(head))
        if any(_isTitle(key) for key in keys):
            return True
        if "states" in keys or "transitions" in keys:
            return False
        # Many have one of these keys, and some have a seed beside a device, or tags beside steps.
        others = {"device", "steps", "seed", "tags"} & set(keys)
        return "machine" in keys and bool(others) or others >= {"device", "steps"} and _hasList(head, keys["steps"])


    def _decoded(data):
        """The text of a file, in whatever encoding an editor may have saved it."""
        for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"), (codecs.BOM_UTF8, "utf-8-sig")):
            if data.startswith(mark):
                return data.decode(encoding, "replace")
        if 0 in data[:2]:
            return data.decode("utf-16-le" if data[0] else "utf-16-be", "replace")
        return data.decode("utf-8", "replace")


    def _isTitle(key):
        """Whether a key is `scenario`, or was to be. Others have `scenarios`."""
        word = key.lower()
        return word != "scenarios" and difflib.SequenceMatcher(None, word, "scenario").ratio() >= 0.85


    _KEY = re.compile(r"""([ \t]*)(?:\?[ \t]+)?(["']?)([A-Za-z][\w-]*)\2[ \t]*(?::(?:\s|$)|$)""")
    _TOKEN = re.compile(r"""(?:#)[^\n]*|"(?:[^"\\]|\\.)*"|'[^']*'|[{}\[\],:]|[^\s{}\[\],:"'#]+""", re.DOTALL)


    def _keys(text):
        """The keys of the outermost mapping, each with its line from 0, also where what stands there is no YAML."""
        width = None
        for number, line in enumerate(text.splitlines()):
            if line.startswith("--- "):
                line = line[4:].lstrip()
            bare = line.strip()
            if not bare or bare[0] in "#%" or bare in ("---", "..."):
                continue
            if width is None and bare[0] == "{":
                yield from _keysInBraces(text, number)
                return
            match = _KEY.match(line)
            indentation = len(line) - len(line.lstrip())
            width = indentation if width is None else width
            # With a tab before it, it is a key of nothing else either.
            if match and (indentation <= width or "\t" in match[1] and _isTitle(match[3])):
                yield match[3], number


    def _keysInBraces(text, first):
        start = sum(map(len, text.splitlines(keepends=True)[:first]))
        depth, before, word = 0, "", None
        for match in _TOKEN.finditer(text, start):
            token = match[0]
            if token[0] == "#":
                continue
            if token == ":" and depth == 1 and word is not None:
                yield word.strip("\"'"), text.count("\n", 0, match.start())
            depth += (token in "{[") - (token in "}]")
            word = token if before in ("{", ",") and token not in "{}[],:" else None
            before = token


    def _hasList(text, line):
        """Whether what begins in a line is a list."""
        rest = "\n".join(text.splitlines()[line:]).partition(":")[2]
        return re.match(r"(?:\s|#.*)*(?:\[|- )", rest) is not None


    #: Marks by which pytest, or a plugin that many have, does something.
    _PYTESTS_OWN = {
        "skip", "skipif", "xfail", "parametrize", "usefixtures", "filterwarnings", "flaky", "timeout", "asyncio",
        "dependency", "order", "repeat", "xdist_group",
    }

    class ScenarioFile(pytest.File):
        """A file with a scenario."""

        def collect(self):
            try:
                cases = self.config._lockstep.cases(self.path)
            except LockstepError as error:
                raise self.CollectError(str(error)) from None
            names = [" ".join(case["name"].split()).replace("::", ":") for case in cases]
            stem = os.path.splitext(cases[0]["file"])[0] if cases else ""
            for case, name in zip(cases, names):
                # Of several cases of a file, what tells one from the other is what its id has more than the file.
                if len(cases) > 1 and names.count(name) > 1:
                    name += " " + case["id"][len(stem):].lstrip("/:# ")
                yield ScenarioItem.from_parent(self, name=name, case=case)


    class ScenarioItem(pytest.Item):
        """A case of a scenario."""

        #: There are none, and plugins that look for theirs are to find that.
        fixturenames = ()

        def __init__(self, *, case, **others):
            super().__init__(**others)
            self.case = case
            self._isDriven = False
            for tag in ["lockstep"] + case.get("tags", []):
                mark = re.sub(r"[^\w.+-]", "_", tag)
                # A tag says what a scenario is about: it excuses nothing, and makes nothing be done again.
                if mark in _PYTESTS_OWN:
                    mark = "tag_" + mark
                if not mark.startswith("_"):
                    self.config._lockstep.register(mark)
                    self.add_marker(mark)

        def setup(self):
            """Waits for how the case ends. What is no judgement of the lock is no failure of a test: it is raised here, where
            pytest makes an error of it."""
            driver = self.config._lockstep
            cases = driver.alone(self) if self._isDriven else driver.ended(self)
            self._isDriven = True
            self._worst = worst = max(cases, key=lambda case: _WEIGHTS.index(case.word))
            self._note(cases)
            if worst.word == "skipped":
                pytest.skip(worst.message)
            if worst.word in ("lab-fault", "incomplete"):
                raise (LabTrouble if worst.word == "lab-fault" else LockstepError)(_Ending(worst))

        def runtest(self):
            if self._worst.word == "divergence":
                raise Divergence(_Ending(self._worst))

        def _note(self, cases):
            worst = self._worst
            values = {
                "case": worst.id, "device": worst.start.get("device"), "seed": worst.start.get("seed"),
                "observations": worst.verdict.get("observations"), "attempts": worst.tries if worst.tries > 1 else None,
                "signature": worst.verdict.get("signature"), "replay": worst.verdict.get("replay"),
            }
            self.user_properties += [(f"lockstep.{name}", str(value)) for name, value in values.items() if value is not None]
            if any(case.isFlaky for case in cases):
                self.user_properties.append(("lockstep.flaky", "true"))
            if worst.trace and worst.word not in ("agree", "skipped"):
                self.add_report_section("setup", "lockstep", worst.trace)

        def repr_failure(self, excinfo, style=None):
            if isinstance(excinfo.value, (Divergence, LockstepError)):
                ending = excinfo.value.args[0]
                return ending if isinstance(ending, _Ending) else str(ending)
            return super().repr_failure(excinfo, style)

        def reportinfo(self):
            return self.path, self._line - 1, f"{self.path.stem}: {self.name}"

        @property
        def _line(self):
            """Where the title stands."""
            try:
                with open(self.path, "rb") as file:
                    keys = _keys(_decoded(file.read(1 << 16)))
            except OSError:
                return 1
            return next((line + 1 for key, line in keys if _isTitle(key)), 1)


    #: How cases end, the best first: several rounds of one case are as their worst.
    _WEIGHTS = ["skipped", "agree", "incomplete", "lab-fault", "divergence"]


    class _Ending:
        """How a case ended, as pytest shows it: in full, and as one line in its summary and in JUnit."""

        class _Crash:
            def __init__(self, path, lineno, message):
                self.path, self.lineno, self.message = path, lineno, message

            def __str__(self):
                return f"{self.path}:{self.lineno}: {self.message}"

        def __init__(self, case):
            self.text = case.text
            self.reprcrash = self._Crash(case.file, case.line, case.message)

        def toterminal(self, terminal):
            for line in self.text.splitlines():
                terminal.line(line)

        def __str__(self):
            return self.text


    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(item, nextitem):
        if not isinstance(item, ScenarioItem):
            item.config._lockstep.finish()


    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(session, exitstatus):
        driver = session.config._lockstep
        driver.finish(stops=True)
        if driver.isWorker:
            session.config.workeroutput["lockstep"] = driver.troubles
        # What lockstep says was wrong makes no test fail, and may not pass either.
        if driver.troubles and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


    class _Workers:
        """What the session does that has workers of pytest-xdist: of their runs it makes one report, where that of an earlier
        session would stand otherwise."""

        def __init__(self, driver):
            self._driver = driver
            self._earlier = set(self._runs())

        def _runs(self):
            return sorted(str(path) for path in self._driver.out.glob("gw*/runs/*"))

        @pytest.hookimpl(optionalhook=True)
        def pytest_testnodedown(self, node, error):
            # A worker that died has left nothing.
            self._driver.troubles += (getattr(node, "workeroutput", None) or {}).get("lockstep", [])

        @pytest.hookimpl(trylast=True)
        def pytest_sessionfinish(self, session):
            runs = [run for run in self._runs() if run not in self._earlier]
            if runs:
                self._driver.merge(runs)
            if self._driver.troubles and session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED


    def pytest_terminal_summary(terminalreporter, config):
        driver = config._lockstep
        reports = [
            report for list in terminalreporter.stats.values() for report in list
            if ("lockstep.flaky", "true") in map(tuple, getattr(report, "user_properties", [])) and report.when == "call"
        ]
        if not reports and not driver.troubles and not driver.isUsed:
            return
        terminalreporter.section("lockstep", sep="-")
        for report in reports:
            terminalreporter.line(f"flaky   {report.nodeid}")
        for trouble in driver.troubles:
            terminalreporter.line(trouble, red=True)
        if driver.isUsed:
            terminalreporter.line(f"reports in {driver.out}")


    # What is asked of Lockstep.
    """#
}
