"""A floor of emulated locks for tests of nights: two air spaces, each a radio of its own with locks on it, and a bench
that describes them as if they were real."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path


def fail(text):
    print(f"{Path(sys.argv[0]).name}: {text}", file=sys.stderr)
    sys.exit(1)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Floor:
    """Locks on two air spaces; everything that it starts ends with it."""

    def __init__(self, lockstep, folder, locks=4, seconds=600):
        self.lockstep, self.folder, self.seconds = str(Path(lockstep).resolve()), Path(folder).resolve(), seconds
        self.environment = {
            **{name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "NOTIFY_SOCKET")},
            "TERM": "dumb", "LOCKSTEP_STATE": str(self.folder / "state" / "lockstep"),
            "XDG_CONFIG_HOME": str(self.folder / "config")}
        self.processes = {}
        self.names = [f"lock-{number + 1}" for number in range(locks)]
        self.airs = {"air-a": free_port(), "air-b": free_port()}
        ports = {name: free_port() for name in self.names}
        for air, port in self.airs.items():
            served = [port] + [ports[name] for name in self.names if self.air(name) == air]
            places = [word for port in served for word in ("--serve", f"tcp-server:127.0.0.1:{port}")]
            self.start(air, "emulate", "controllers", *places)
            self.wait(lambda air=air, served=served: self.listens(air, len(served)), f"{air} does not listen")
        (self.folder / "keys").mkdir(parents=True)
        for number, name in enumerate(self.names):
            self.start(
                name, "emulate", "sesame5", "--transport", f"tcp-client:127.0.0.1:{ports[name]}",
                "--key-file", f"keys/{name}.yaml", "--seed", str(100 + number),
                "--control", f"unix:{name}.socket")
        for name in self.names:
            self.wait((self.folder / "keys" / f"{name}.yaml").exists, f"{name} does not advertise")

    def air(self, name):
        return "air-a" if self.names.index(name) < len(self.names) / 2 else "air-b"

    def command(self, *words):
        return [self.lockstep, *map(str, words)]

    def start(self, name, *words):
        log = open(self.folder / f"{name}.log", "wb")
        self.processes[name] = subprocess.Popen(
            self.command(*words, "--duration", f"{self.seconds}s"), cwd=self.folder, env=self.environment,
            stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def listens(self, air, count):
        """Whether all of its controllers are there; nobody connects to find out, since each takes one host."""
        return (self.folder / f"{air}.log").read_bytes().count(b"tcp-server:") >= count

    def wait(self, condition, problem, seconds=240):
        limit = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > limit:
                fail(problem)
            time.sleep(0.02)

    def ask(self, name, request):
        """Asks for something of a lock's surroundings."""
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(240)
            line.connect(str(self.folder / f"{name}.socket"))
            line.sendall(json.dumps(request).encode() + b"\n")
            answer = json.loads(line.makefile().readline())
        if "refused" in answer:
            fail(f"{name}: {request}: {answer}")
        return answer

    def kill(self, name):
        self.processes[name].kill()
        self.processes[name].wait()

    def bench(self, **limits):
        """Writes bench.yaml."""
        lines = ["bench: third-floor", "dongles:"]
        lines += [f'  - {{ name: {air}, transport: "tcp-client:127.0.0.1:{port}" }}' for air, port in self.airs.items()]
        lines += ["locks:"]
        limits = {"gap": "500 ms", "cool-down": "3 s", **limits}
        text = ", ".join(f"{key}: {value}" for key, value in limits.items())
        for name in self.names:
            lines.append(
                f"  - {{ name: {name}, file: keys/{name}.yaml, tags: [sesame5], dongles: [{self.air(name)}], "
                f"limits: {{ {text} }} }}")
        (self.folder / "bench.yaml").write_text("\n".join(lines) + "\n")

    def starts(self, name):
        """How often the motor of a lock has started, by its own count."""
        return (self.folder / f"{name}.log").read_text().count("the motor starts")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
