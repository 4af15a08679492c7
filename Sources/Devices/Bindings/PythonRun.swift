extension Binding {
  /// How a program in Python has scenarios run, and what it learns of them: the part of ``pytest`` that calls it.
  static let pythonRun = #"""
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
        """Has the kernel ask a program for its end once whoever started it is gone (PR_SET_PDEATHSIG)."""
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
                # it ends with them, and brings the lock to its park position: nobody else would.
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
                if key in ("t", "line", "model"):
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
    """#
}
