#!/usr/bin/env python3
"""Looks for the keys of locks in everything that lockstep leaves behind.

usage: canary.py COMMAND [--runs N] [--lanes N] [--plant]

Some locks are emulated with `lockstep emulate --key-file`, and COMMAND is run N times against them: as one should, as one
should not, and with an end that it did not choose. Beside each stands a lock of a driver, which says its secret wherever it
can say anything. Then every file, and everything that was printed, is searched for
the keys: raw, as hexadecimal digits, base64 and decimal numbers, forwards and backwards, whatever stands between the
digits. First each of those forms is planted, to see that the search finds it. --plant leaves one where it is: that
run must fail.
"""
import base64, functools, os, re, signal, subprocess, sys, tempfile, threading, time

# ---------------------------------------------------------------- the search, which knows nothing of the redactor


def forms(key):
    """Names and texts of a key, as it might be written."""
    both = [("", key), ("reversed ", key[::-1])]
    for order, data in both:
        digits = data.hex()
        yield order + "raw", data
        pairs = [digits[i:i + 2] for i in range(0, len(digits), 2)]
        for name, joint, head in [
            ("hex", "", ""), ("hex with spaces", " ", ""), ("hex with colons", ":", ""), ("hex with dashes", "-", ""),
            ("hex with commas", ", ", ""), ("hex in C", ", ", "0x"), ("hex escapes", "", "\\x"), ("JSON escapes", "", "\\u00"),
            ("percent signs", "", "%"), ("hex on lines", "\n", ""),
        ]:
            text = joint.join(head + pair for pair in pairs)
            yield order + name, text.encode()
            yield order + name + " in capitals", joint.join(head + pair.upper() for pair in pairs).encode()
            if not head:
                yield order + name + " backwards", text[::-1].encode()
        for lead in range(3):
            text = base64.b64encode(b"\x04" * lead + data).decode()
            for name, text in [("base64", text), ("base64 for URLs", text.replace("+", "-").replace("/", "_")),
                               ("base64 on lines", "\n".join(text[i:i + 8] for i in range(0, len(text), 8))),
                               ("base64 in a URL", text.replace("+", "%2B").replace("/", "%2F").replace("=", "%3D"))]:
                yield f"{order}{name} {lead}", text.encode()
                if "URL" not in name:
                    yield f"{order}{name} {lead} backwards", text[::-1].encode()
        yield order + "decimals", ", ".join(map(str, data)).encode()


def readings(data):
    """A file's bytes, and what is left of them when what formats put in between is taken out."""
    yield "bytes", data
    bare = re.sub(rb"\\u00|\\x|0[xX]|&#x|%", b" ", data)
    yield "digits", re.sub(rb"[^0-9a-f]", b"", bare.lower())
    yield "digits", re.sub(rb"[^0-9a-f]", b"", data.lower())
    plain = re.sub(rb"%2[bB]|\\u002[bB]", b"+", re.sub(rb"%2[fF]|\\/|\\u002[fF]", b"/", data))
    plain = re.sub(rb"%3[dD]|\\[nrt]", b"", plain)
    yield "base64", re.sub(rb"[^A-Za-z0-9+/]", b"", plain)
    yield "base64", re.sub(rb"[^A-Za-z0-9+/]", b"", plain.replace(b"-", b"+").replace(b"_", b"/"))
    yield "decimals", b" " + re.sub(rb"[^0-9]+", b" ", data) + b" "


@functools.cache
def needles(key):
    """What to look for in each reading: also one half of a key."""
    found = {"bytes": [], "digits": [], "base64": [], "decimals": []}
    for part in [key[:8], key[8:]]:
        for data in [part, part[::-1]]:
            found["bytes"].append(data)
            found["digits"] += [data.hex().encode(), data.hex()[::-1].encode()]
            found["decimals"].append(b" " + b" ".join(str(byte).encode() for byte in data) + b" ")
            for lead in range(3):
                # The characters that follow from these bytes alone.
                text = base64.b64encode(b"\0" * lead + data + b"\0" * 2)
                whole = text[(lead * 8 + 5) // 6:(lead + len(data)) * 8 // 6]
                found["base64"] += [whole, whole[::-1]]
    return found


def leaks(data, keys):
    """The keys that stand in some bytes, as places in a list."""
    read = list(readings(data))
    return [
        number for number, key in enumerate(keys)
        if any(needle in text for kind, text in read for needle in needles(key)[kind])
    ]


def check_search(key):
    count = 0
    for name, text in forms(key):
        if leaks(b"some text: " + text + b", or so\n", [key]) != [0]:
            sys.exit(f"canary: the search does not find a key that is planted as {name}: {text!r}")
        count += 1
    if leaks(b"some text 0123456789abcdef " * 50, [key]):
        sys.exit("canary: the search finds a key where none is")
    return count


# ---------------------------------------------------------------- locks and runs

SCENARIO = """scenario: {title}
machine: sesame
device: {{ lock: sesame5, registered: {registered} }}
steps:
  - closeTo
  - connect
  - until: {{ status: [locked, unlocked, nosetting, readytoRegister] }}
{steps}"""


# A driver that says its secret in its errors, its log, its readings, its refusals, beside its packets and in them.
BABBLE = '''import os, sys
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
exec(open(here + "/driver.py").read().replace("driver.run()", ""))
secret = driver.secrets["key"]
pairs = [secret[i:i + 2] for i in range(0, len(secret), 2)]
driver._hello["readings"] = ["log", "key"]
sys.stderr.write("begin " + ":".join(pairs) + "\\n")
def say(text):
    driver.log(text + " " + secret)
    driver.reading("key", text + " " + "-".join(pairs).upper())
    sys.stderr.write(text + " " + secret + "\\n")
@driver.ready
def ready(services):
    say("ready")
    driver.write("fff1", bytes.fromhex(secret), text="write " + secret)
    driver.write("fff1", secret.encode())
    driver.subscribe("fff2")
@driver.failed
def failed(operation, error, code):
    say("failed")
@driver.stimulus
def readLog():
    driver.refuse("no: " + secret)
driver.run()
'''


# How many kinds of runs there are, or about so.
LENGTH = 55


class Lane:
    """A lock on the air, a key file, and a folder for everything that is left behind."""

    def __init__(self, command, folder, number):
        self.command, self.folder, self.number = command, folder, number
        self.count = 0
        self.failures = []
        self.environment = dict(os.environ, LOCKSTEP_STATE=folder + "/state/lockstep")
        os.mkdir(folder)
        self.talk = folder + "/talk"
        os.mkdir(self.talk)
        self.write("there.yaml", SCENARIO.format(title="There", registered="true", steps="  - unlock\n  - until: { status: unlocked }\n"))
        self.write("look.yaml", SCENARIO.format(title="A look", registered="true", steps="  - wait: 100 ms\n"))
        self.write("wrong.yaml", SCENARIO.format(title="Wrong", registered="true", steps="  - expect: { status: reset, within: 200 ms }\n"))
        self.write("jam.yaml", SCENARIO.format(title="A jam", registered="true", steps="  - fault: jam\n  - unlock\n"))
        self.write("register.yaml", SCENARIO.format(title="Becoming its owner", registered="false", steps="  - register\n  - until: { status: nosetting }\n"))
        words = ["--serve", "tcp-server:127.0.0.1:0", "--key-file", "lock.yaml", "--seed", str(100 + number)]
        if number % 2:
            words += ["--control", "unix:control"]
        self.emulator = self.start(["emulate", "sesame5"] + words + ["--duration", "3600s"], "emulate")
        for _ in range(600):
            with open(self.talk + "/emulate.out") as file:
                said = file.read()
            if "\n" in said or self.emulator.poll() is not None:
                break
            time.sleep(0.05)
        self.transport = "tcp-client:" + re.search(r"tcp-server:(\S+)", said).group(1)
        text = open(folder + "/lock.yaml").read()
        self.key = bytes.fromhex(re.search(r'secret: "?([0-9a-f]{32})', text).group(1))
        self.uuid = re.search(r"uuid: (\S+)", text).group(1)
        self.wrong_files()
        self.driver_files()

    def driver_files(self):
        """A project whose driver has a secret, in the file of its lock and in the environment."""
        subprocess.run([self.command, "new", "pad", "--quiet"], cwd=self.folder, env=self.environment, check=True,
                       stdout=subprocess.DEVNULL)
        self.write("pad/babble.py", BABBLE)
        self.secret = os.urandom(16)
        self.environment["CANARY_DRIVER"] = self.secret.hex()
        head = "driver: python3 pad/babble.py\nmachine: pad/pad.yaml\n"
        self.write("keys-driver.yaml", head + f"id: D{self.number}\nsecrets: {{ key: \"{self.secret.hex()}\" }}\n")
        self.write("keys-driver-env.yaml", head + f"id: D{self.number}\nsecrets: {{ key: env:CANARY_DRIVER }}\n")
        self.write("keys-driver-bad.yaml", head + f"secrets: {{ key: {self.secret.hex()} }}\n")
        self.write("keys-driver-list.yaml", head + f"id: D\nsecrets: [{self.secret.hex()}]\n")
        self.write("pad/refused.yaml", "scenario: Refused\nmachine: pad.yaml\nsteps: [approach, wait: 1 s, connect, wait: 2 s, readLog]\n")

    def write(self, name, text, mode=0o600):
        with open(self.folder + "/" + name, "w") as file:
            file.write(text)
        os.chmod(self.folder + "/" + name, mode)

    def wrong_files(self):
        """Key files of every kind, right and wrong."""
        digits, uuid = self.key.hex(), self.uuid
        share = b"\x05" + self.key + b"\x01\x02\x03\x04\0\0" + bytes.fromhex(uuid.replace("-", ""))
        quoted = base64.b64encode(share).decode().replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")
        self.url = f"ssm://UI?t=sk&sk={quoted}&l=0&n=Lab"
        head = f"lock: sesame5\nuuid: {uuid}\n"
        self.environment.update(CANARY=digits, CANARY_URL=self.url, CANARY_BAD=digits[:-1])
        keys = {"file-env": "key: env:CANARY\n", "file-url": f"key: {self.url}\n", "file-env-url": "key: env:CANARY_URL\n",
                "bad-env": "key: env:CANARY_BAD\n", "no-env": "key: env:CANARY_GONE\n", "bad-secret": f"secret: {digits}0\n",
                "bad-url": f"key: {self.url[:-20]}\n", "bad-name": f"sceret: {digits}\n", "bad-uuid": f"secret: {digits}\nuuid: {digits}\n",
                "bad-split": "secret: " + " ".join(digits[i:i + 2] for i in range(0, 32, 2)) + "\n", "bad-env-name": f"key: env:{digits}\n",
                "bad-yaml": f"secret: [{digits}\n", "bad-flow": f"{{ secret: {digits}, x: \n"}
        for name, text in keys.items():
            self.write("keys-" + name + ".yaml", head + text)
        self.write("keys-open.yaml", head + f"secret: {digits}\n", 0o644)
        os.mkdir(self.folder + "/mixed")
        self.write("mixed/lock.yaml", head + f"secret: {digits}\n")

    def start(self, words, name):
        out, errors = (open(f"{self.talk}/{name}.{kind}", "wb") for kind in ["out", "err"])
        with out, errors:
            return subprocess.Popen([self.command] + words, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                    stdout=out, stderr=errors)

    def run(self, words, statuses=None, end=None):
        """One run; `end` is a signal and how many seconds it comes after the start."""
        self.count += 1
        process = self.start(words, f"{self.count:04}-{words[0]}")
        if end:
            time.sleep(end[1])
            process.send_signal(end[0])
        try:
            status = process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            status = "none within a minute"
        if statuses and not end and status not in statuses:
            self.failures.append(f"status {status} and not {statuses} of lockstep {' '.join(words)}: {self.talk}/{self.count:04}-{words[0]}")

    def deck(self):
        """The runs, over and over: each is words, the statuses to expect or None, and an end or None."""
        out = ["--out", "Reports"]
        lock = ["--device", "lock:lock.yaml", "--transport", self.transport]
        control = ["--control", "unix:control"] if self.number % 2 else []
        last = lambda: sorted(os.listdir(self.folder + "/Reports/runs"))[-1] if os.path.isdir(self.folder + "/Reports/runs") else "none"
        saved = lambda: ([f"Reports/failures/{name}" for name in sorted(os.listdir(self.folder + "/Reports/failures"))] + ["none"])[0] \
            if os.path.isdir(self.folder + "/Reports/failures") else "none"
        while True:
            yield ["run", "look.yaml", *lock, *control, *out], [0], None
            yield ["run", "wrong.yaml", *lock, *control, *out, "--format", "json"], [1, 5, 6], None
            for name in ["bad-secret", "bad-env", "no-env", "bad-url", "bad-name", "bad-split", "bad-env-name", "bad-yaml", "bad-flow",
                         "bad-uuid", "open"]:
                yield ["run", "look.yaml", "--device", f"lock:keys-{name}.yaml", "--transport", self.transport, *out], [2], None
            yield ["run", "lock.yaml", *lock, *out], [2], None
            yield ["validate", "lock.yaml"], [2], None
            yield ["validate", "mixed", "keys-bad-flow.yaml", "keys-file-url.yaml"], [2], None
            yield ["list", "mixed", "mixed/lock.yaml"], [2], None
            yield ["replay", "lock.yaml"], [2], None
            yield ["machines", "./lock.yaml"], [2], None
            yield ["fuzz", "./keys-file-url.yaml", *out], [2], None
            yield ["report", "lock.yaml", *out], None, None
            yield ["run", "look.yaml", "--device", f"lock:{self.url}", "--transport", self.transport, *out], [2], None
            yield ["run", self.url, *out], None, None
            yield ["run", f"--{self.url}"], [2], None
            yield ["run", "look.yaml", "--device", "lock:keys-file-env.yaml", "--transport", self.transport, *control, *out, "--format", "json"], [0], None
            yield ["run", "look.yaml", "--device", "lock:keys-file-url.yaml", "--transport", self.transport, *control, *out], [0], None
            yield ["run", "look.yaml", "--device", "lock:keys-file-env-url.yaml", "--transport", self.transport, *control, *out, "--quiet"], [0], None
            yield ["run", "jam.yaml", "look.yaml", *lock, *control, *out], None, None
            yield ["fuzz", "sesame", *lock, *control, *out, "--duration", "2s", "--twin", "none", "--actuations", "2"], None, None
            yield ["fuzz", "sesame", *lock, *control, *out, "--duration", "2s", "--keep-going", "--format", "json"], None, None
            yield ["replay", saved(), *lock, *control], None, None
            yield ["scan", "--transport", self.transport, "--duration", "1s", "--all"], None, None
            yield ["scan", "--transport", self.transport, "--duration", "1s", "--format", "json", "--capture", "scan.btsnoop"], None, None
            yield ["doctor", "--out", "Reports", "--format", "json"], None, None
            yield ["report", f"Reports/runs/{last()}", *out], None, None
            yield ["report", f"Reports/runs/{last()}", *out, "--format", "json"], None, None
            yield ["packets", f"Reports/runs/{last()}/capture.btsnoop"], None, None
            yield ["packets", f"Reports/runs/{last()}/capture.btsnoop", "--key-file", "lock.yaml"], None, None
            yield ["history"], None, None
            yield ["run", "there.yaml", *lock, *control, *out, "-vv"], [0], None
            played = lambda name: ["--device", f"driver:python3 pad/babble.py?peripheral=python3 pad/lock.py&secrets={name}"]
            for name in ["keys-driver.yaml", "keys-driver-env.yaml"]:
                yield ["run", "pad/scenarios/opens.yaml", "pad/refused.yaml", *played(name), *out, "-v"], [0, 1], None
            yield ["run", "pad/refused.yaml", *played("keys-driver.yaml"), *out, "--format", "json"], [0, 1], None
            yield ["fuzz", "pad/pad.yaml", *played("keys-driver.yaml"), *out, "--steps", "300"], [0, 1, 3], None
            for name in ["keys-driver-bad", "keys-driver-list"]:
                yield ["run", "pad/refused.yaml", *played(name + ".yaml"), *out], [2, 3], None
            for number in [signal.SIGKILL, signal.SIGTERM, signal.SIGABRT, signal.SIGSEGV]:
                yield ["run", "there.yaml", *lock, *control, *out], None, (number, 0.3)
            if control:
                yield ["run", "register.yaml", *lock, *control, *out], None, None

    def keys(self):
        """Every key that a file of this lock holds by now."""
        found = {self.key, self.secret}
        for name in os.listdir(self.folder):
            if name.startswith("lock.yaml"):
                found |= {bytes.fromhex(text) for text in re.findall(r'secret: "?([0-9a-f]{32})', open(self.folder + "/" + name).read())}
        return found


def is_meant_to(name):
    """Whether a file is one that holds keys: the lock files, which are ours or the emulator's."""
    return name.startswith(("lock.yaml", "keys-")) or name == "lock.yaml"


def main():
    words = sys.argv[1:]
    if not words or words[0].startswith("--"):
        sys.exit(__doc__)
    value = lambda name, usual: int(words[words.index(name) + 1]) if name in words else usual
    command, runs, lanes = os.path.abspath(words[0]), value("--runs", 1000), value("--lanes", 8)
    planted = check_search(bytes.fromhex("4a7e5c2a493b0e4bfa9f510d1ffbefbe"))
    os.umask(0)
    begin = time.time()
    with tempfile.TemporaryDirectory(prefix="canary-") as root:
        every = [Lane(command, f"{root}/{number}", number) for number in range(lanes)]
        def play(lane):
            deck = lane.deck()
            # Each lane begins elsewhere, so that a few runs of each are all kinds of runs.
            for _ in range(lane.number * LENGTH // lanes): next(deck)
            for _ in range(runs // lanes + (lane.number < runs % lanes)):
                words, statuses, end = next(deck)
                lane.run(words, statuses, end)
        threads = [threading.Thread(target=play, args=[lane]) for lane in every]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        for lane in every:
            lane.emulator.terminate()
            lane.emulator.wait()
        if "--plant" in words:
            with open(f"{root}/0/Reports/planted.txt", "w") as file:
                file.write(":".join(f"{byte:02X}" for byte in every[0].key[::-1]))
        keys = sorted(set().union(*[lane.keys() for lane in every]))
        failures = [text for lane in every for text in lane.failures]
        files, size = 0, 0
        for folder, _, names in os.walk(root):
            for name in names:
                path = os.path.join(folder, name)
                if not os.path.isfile(path): continue
                mode = os.stat(path).st_mode & 0o777
                if is_meant_to(name):
                    if name != "keys-open.yaml" and mode != 0o600: failures.append(f"mode {mode:o} of {path}")
                    continue
                # A run that got as far as a lock has its capture beside its journal.
                if "capture.btsnoop" in names or name.endswith(".btsnoop"):
                    if mode != 0o600: failures.append(f"mode {mode:o} of {path}")
                with open(path, "rb") as file: data = file.read()
                files, size = files + 1, size + len(data)
                for number in leaks(data, keys):
                    failures.append(f"key {number} in {path}")
                    text = data.decode("utf8", "replace")
                    failures.append("    " + re.sub(keys[number].hex(), "<KEY>", text)[:300].replace("\n", "\n    "))
        for text in failures: print("canary:", text)
        print(f"canary: {sum(lane.count for lane in every)} runs, {len(keys)} keys, {planted} forms; {files} files of {size} bytes "
              f"searched; {len(failures)} failures; {time.time() - begin:.0f} s")
        sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
