extension Binding {
  /// The part of ``pytest`` that runs the command: what it is asked in a session, and how its cases ended.
  static let pytestSession = #"""
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
    """#
}
