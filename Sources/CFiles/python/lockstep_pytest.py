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
    lab fault     error, as is all that was not completed: neither says anything of the lock
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


class LockstepError(Exception):
    """Nothing could be run, or not to its end: it says nothing of the lock."""


class LabTrouble(LockstepError):
    """The lab had trouble, which says nothing of the lock either."""


class Divergence(Exception):
    """Model and lock disagree."""


def _words(command):
    """The words with which the command is called: a path, or a line of the shell."""
    command = command or os.environ.get("LOCKSTEP") or "lockstep"
    return [command] if os.path.isfile(command) else shlex.split(command) or ["lockstep"]


def _kept(lines, count=40):
    """The last lines of a text."""
    lines = lines.splitlines()
    return "\n".join((["…"] if len(lines) > count else []) + lines[-count:])


def _endsWithParent():
    """Asks the kernel to end a program when its parent has ended (PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGINT)


class _Call:
    """A call of the command that prints a JSON object a line. They are taken in at once, whenever they are asked for: a
    lock is not to wait for a full pipe."""

    def __init__(self, words, folder=None):
        self.words = words
        #: What it said on its standard error, as far as it matters; known once it has ended.
        self.said = ""
        self._errors = tempfile.TemporaryFile()
        self._lines = queue.SimpleQueue()
        self._isStopped = False
        try:
            # In a group of its own: the Ctrl-C that ends the tests comes from `stop`, and comes once. If the tests are killed
            # it ends with them, and brings the lock to its park position, which nothing else would.
            with warnings.catch_warnings():
                # Of a fork beside threads: what is done behind it is one call of the kernel.
                warnings.simplefilter("ignore", DeprecationWarning)
                self._process = subprocess.Popen(
                    words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._errors,
                    start_new_session=True, preexec_fn=_endsWithParent)
        except OSError as error:
            self._errors.close()
            raise LockstepError(
                f"lockstep cannot be started: {words[0]}: {error.strerror}; put it on the PATH, or name it "
                "with LOCKSTEP or where this is set up") from None
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        with self._process.stdout as output:
            for line in output:
                self._lines.put(line)
        self._lines.put(None)

    def records(self):
        """The objects as they come, to the last."""
        while True:
            line = self._lines.get()
            if line is None:
                self._lines.put(None)
                return
            try:
                yield json.loads(line)
            except ValueError:
                raise LockstepError(
                    f"{shlex.join(self.words[:2])} printed what is no JSON: {line[:200]!r}") from None

    def stop(self):
        """Ends it in the step that it is at, with its reports; a second time at once."""
        if self._process.poll() is None:
            self._isStopped = True
            self._process.send_signal(signal.SIGINT)

    def all(self):
        """The objects, all of them, once it has ended."""
        try:
            return list(self.records())
        finally:
            self.end()

    def end(self):
        """Waits for the end, and gives the exit status."""
        try:
            status = self._wait()
        except KeyboardInterrupt:
            self.stop()
            status = self._wait()
        if not self._errors.closed:
            with self._errors as errors:
                errors.seek(0)
                self.said = _kept(errors.read().decode("utf-8", "replace").strip())
        return status

    def _wait(self):
        self._reader.join()
        return self._process.wait()

    @property
    def isStopped(self):
        return self._isStopped

    def fault(self, what):
        """What is to be said where it ended and should not have."""
        status = self.end()
        return f"{what} (lockstep ended with status {status})" + (f"\n{self.said}" if self.said else "")


class _Case:
    """A case, with how it ended: `verdict` is that of its last try."""

    def __init__(self, start, failsFlaky=False):
        self.start = start
        self._failsFlaky = failsFlaky
        self.id = start["id"]
        self.verdict = None
        self.tries = 0
        self.diagnostics = []
        self._trace = collections.deque(maxlen=60)
        self._isExcerpt = False

    def take(self, record):
        """Takes in something that happened."""
        words = []
        for key, value in record.items():
            if key == "diagnostic":
                self.diagnostics.append(str(value))
            if key in ("t", "line", "model", "variables"):
                continue
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            words.append(f"step {text} (line {record.get('line')}) " if key == "step" else f"{key} {text}")
        if words:
            self._isExcerpt = self._isExcerpt or len(self._trace) == self._trace.maxlen
            self._trace.append(f"{record['t']:>10}  {'  '.join(words)}")

    @property
    def word(self):
        """How it counts: what is in quarantine was not judged, and what is flaky may be told to count as a divergence."""
        word = self.verdict["verdict"]
        if word == "agree" and self.isFlaky and self._failsFlaky:
            return "divergence"
        return "skipped" if "quarantine" in self.verdict and word in ("divergence", "lab-fault") else word

    @property
    def isFlaky(self):
        return bool(self.verdict.get("flaky"))

    @property
    def message(self):
        """Why it ended so, in a line."""
        message = self.verdict.get("message") or (
            f"flaky: it agreed at try {self.tries}" if self.isFlaky else self.verdict["verdict"])
        quarantine = self.verdict.get("quarantine")
        return f"in quarantine {quarantine}: {message}" if quarantine else message

    @property
    def file(self):
        return self.start.get("file") or self.id

    @property
    def line(self):
        """The line of the step at which it ended, else the one where the scenario begins."""
        return self.verdict.get("line") or self.start.get("line") or 1

    @property
    def text(self):
        """What there is to say to a person: where it ended and how, model and device side by side, how it is done again."""
        verdict = self.verdict
        name = {"divergence": "diverged", "lab-fault": "trouble in the lab"}.get(self.word, self.word)
        if verdict.get("unmet") and self.word == "divergence":
            name = "not as expected"
        place = f" at step {verdict['step']}, t = {verdict.get('t', '?')} s" if "step" in verdict else ""
        lines = [f"{self.file}:{self.line}   {name}{place}"]
        lines += ["    " + line for line in self.message.splitlines() + verdict.get("details", [])]
        lines += ["    " + line for line in self.diagnostics]
        if verdict.get("sentence"):
            lines.append("    " + verdict["sentence"])
        if verdict.get("replay"):
            lines.append("  " + verdict["replay"])
        return "\n".join(lines)

    @property
    def trace(self):
        """What happened, the last of it."""
        return "\n".join((["         …"] if self._isExcerpt else []) + list(self._trace))


class _Run(_Call):
    """A run of scenarios, case by case."""

    def cases(self):
        """The cases as they end, each once: what is tried again has not ended."""
        case, failsFlaky = None, False
        for record in self.records():
            if "case" in record and isinstance(record["case"], dict):
                if case is None or case.id != record["case"]["id"] or case.verdict is not None:
                    case = _Case(record["case"], failsFlaky)
            elif "verdict" in record:
                case.tries += 1
                if not record.get("again"):
                    case.verdict = record
                    yield case
            elif "run" in record:
                failsFlaky = record["run"].get("flaky") == "fail"
            elif "t" in record and case is not None and case.verdict is None:
                case.take(record)


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


class _Lockstep:
    """The command, and what it is asked in a session."""

    def __init__(self, config):
        self.config = config
        self.root = config.rootpath
        self.command = _words(self._setting("command"))
        worker = getattr(config, "workerinput", None)
        self.out = self.root / (self._setting("out") or "Reports")
        self.isWorker = worker is not None
        self._folder = self.out / worker["workerid"] if worker else self.out
        #: What is wrong though no item says so.
        self.troubles = []
        self.isUsed = False
        self._known = {}
        self._broken = None
        self._run = None
        self._marks = set()

    def _setting(self, name):
        value = self.config.getoption(f"lockstep_{name}")
        return value if value is not None else self.config.getini(f"lockstep_{name}") or None

    def _options(self):
        return [
            f"--{name}={self._setting(name)}" for name in ("device", "bench", "seed") if self._setting(name) is not None
        ]

    def _name(self, path):
        """A file as Lockstep is to call it, from the folder in which it runs."""
        try:
            return str(path.relative_to(self.root))
        except ValueError:
            return str(path)

    def check(self):
        """Refuses options that say what pytest says, or that make Lockstep run something else than pytest waits for."""
        try:
            words = shlex.split(self._setting("args") or "")
        except ValueError as error:
            raise pytest.UsageError(f"--lockstep-args: {error}") from None
        for word in words:
            name = word.partition("=")[0]
            if name in _IN_PLACE:
                raise pytest.UsageError(
                    f"--lockstep-args: {name} is not taken here: use {_IN_PLACE[name]} of pytest in its place")

    def register(self, mark):
        """Makes a tag a mark that pytest knows."""
        if mark not in self._marks:
            self._marks.add(mark)
            self.config.addinivalue_line("markers", f"{mark}: a tag of scenarios")

    # Which cases there are

    def cases(self, path):
        """The cases of a file; all files of the session are asked for at once, with the first of them."""
        if self._broken is not None:
            raise LockstepError(self._broken)
        if path not in self._known:
            others = [other for other in self._candidates() if other not in self._known]
            try:
                self._learn(list(dict.fromkeys([path] + others)))
            except LockstepError as error:
                self._broken = str(error)
                raise
        known = self._known[path]
        if isinstance(known, str):
            raise LockstepError(known)
        return known

    def _candidates(self):
        """The scenarios below what pytest was started with."""
        ignored = self.config.getini("norecursedirs")
        for argument in self.config.args:
            place = self.config.invocation_params.dir / str(argument).partition("::")[0]
            if place.is_file() and place.suffix in (".yaml", ".yml") and _isScenario(place):
                yield place
            for folder, folders, files in os.walk(place):
                folders[:] = sorted(
                    name for name in folders
                    if not any(fnmatch.fnmatch(name, pattern) for pattern in ignored)
                    and place.__class__(folder, name) != self.out)
                for name in sorted(files):
                    path = place.__class__(os.path.normpath(os.path.join(folder, name)))
                    if path.suffix in (".yaml", ".yml") and path.is_file() and _isScenario(path):
                        yield path

    def _learn(self, paths):
        """Asks for the cases of some files. Where one of them cannot be read none is listed: then it is looked for by
        halves."""
        names = {os.path.normpath(self._name(path)): path for path in paths}
        call = _Call(self.command + ["list", "--format=json"] + self._options() + ["--"] + list(names), self.root)
        cases = call.all()
        status = call.end()
        if status in (0, 4):
            for path in paths:
                self._known[path] = []
            for case in cases:
                self._known[names[os.path.normpath(case["file"])]].append(case)
            # Of two names of one file only one is listed.
            for path in paths:
                if not self._known[path] and len(paths) > 1:
                    self._learn([path])
            return
        if status != 2 or not self._problems(names):
            raise LockstepError(call.fault("the scenarios cannot be listed"))
        if len(paths) == 1:
            self._known[paths[0]] = call.said
            return
        middle = len(paths) // 2
        for part in (paths[:middle], paths[middle:]):
            self._learn(part)

    def _problems(self, names):
        """What is wrong with some files themselves."""
        call = _Call(self.command + ["validate", "--format=json", "--"] + list(names), self.root)
        return [problem for problem in call.all() if problem.get("severity") == "error"]

    # Running them

    def _start(self, files, *options, folder=None):
        self.isUsed = True
        words = ["run", "--no-config", "--format=json", "-vv", "--show-progress=none"]
        # Of a job of several parts each has the tests that pytest gives it: Lockstep is not to take a part of them.
        words += [f"--out={folder or self._folder}", "--shard=1/1"] + self._options()
        # A page about one case is of no use.
        words += ["--html=none"] if self.isWorker else []
        words += shlex.split(self._setting("args") or "") + list(options)
        return _Run(self.command + words + ["--"] + files, self.root)

    def alone(self, item):
        """Runs a case by itself, and gives how it ended, each round of it. The reports of the session stay."""
        folder = self._folder if self.isWorker else self._folder / "again"
        run = _SessionRun(self._start([item.case["file"]], folder=folder), [item.case["id"]])
        try:
            return run.ended(item.case["id"])
        except BaseException:
            run.stop()
            raise
        finally:
            self._close(run)

    def ended(self, item):
        """Waits until a case has ended, and gives how, each round of it."""
        if self.isWorker:
            return self.alone(item)
        if self._run is None:
            self._run = self._begin(item.session)
        if item.case["id"] not in self._run.ids:
            return self.alone(item)
        cases = self._run.ended(item.case["id"], orNone=True)
        if self._run.isComplete:
            # Behind the last one what fixtures hold is given up, and a lock has to be brought to its park position before.
            self.finish()
        # Of two names of one file only one is driven.
        return cases or self.alone(item)

    def _begin(self, session):
        """Starts the run of all items that are selected."""
        items = [
            item for item in session.items
            if isinstance(item, ScenarioItem) and item.get_closest_marker("skip") is None
        ]
        # Once pytest will stop no other case is begun, unless pytest may count less than Lockstep.
        maximum = self.config.getoption("maxfail", 0)
        isExcused = any(item.get_closest_marker("xfail") for item in items)
        options = [f"--max-fail={maximum}"] if maximum and not isExcused else []
        files = list(dict.fromkeys(item.case["file"] for item in items))
        return _SessionRun(self._start(files, *options), [item.case["id"] for item in items])

    def finish(self, stops=False):
        """Waits until the run has ended, where there is one; with `stops` it is ended unless it is at its end."""
        if self._run is None or self._run.isClosed:
            return
        if stops and not self._run.isComplete:
            self._run.stop()
        self._close(self._run)

    def merge(self, runs):
        """Makes the reports of a session out of several runs."""
        self.isUsed = True
        call = _Call(self.command + ["report", "--no-config", "--quiet", f"--out={self.out}", "--"] + runs, self.root)
        # What cases came to has been told.
        if call.end() not in (0, 1, 3, 4, 5):
            self.troubles.append(call.fault("the reports of the workers cannot be merged"))

    def _close(self, run):
        trouble = run.close()
        if trouble:
            self.troubles.append(trouble)


class _SessionRun:
    """A run, and the endings of the items that it is for."""

    def __init__(self, run, ids):
        self.ids = set(ids)
        self.isClosed = False
        self._run = run
        self._cases = run.cases()
        self._endings = {name: [] for name in ids}
        self._complete = set()
        self._told = set()
        self._last = None

    @property
    def isComplete(self):
        return self._complete >= self.ids

    def ended(self, name, orNone=False):
        """How a case ended, each round of it; with `orNone` nothing where the run is in order and does not tell of it."""
        while name not in self._complete and self._advance():
            pass
        if not self._endings[name] and not (orNone and self._run.end() in (0, 4)):
            raise LockstepError(self._run.fault(f"no verdict on {name}"))
        self._told.add(name)
        return self._endings[name]

    def _advance(self):
        """Takes in one more case; false where there is none."""
        case = next(self._cases, None)
        if case is None:
            self._complete |= self.ids
            return False
        # The rounds of a case have numbers, and come one behind the other.
        name = case.id if case.id in self.ids else re.sub(r"#[0-9]+$", "", case.id)
        if name != self._last and self._last is not None:
            self._complete.add(self._last)
        self._last = name
        if name in self.ids:
            self._endings[name].append(case)
            if name == case.id:
                self._complete.add(name)
        return True

    def stop(self):
        self._run.stop()

    def close(self):
        """Waits for the end, and gives what is wrong though no case says so."""
        try:
            while self._advance():
                pass
        except LockstepError as error:
            return str(error)
        finally:
            self.isClosed = True
            status = self._run.end()
        # What no item has said counts for nothing.
        isRed = any(case.word not in ("agree", "skipped") for name in self._told for case in self._endings[name])
        if status in (0, 4) or isRed and status in (1, 3, 5, 6) or self._run.isStopped:
            return None
        return self._run.fault("the run is not in order")
