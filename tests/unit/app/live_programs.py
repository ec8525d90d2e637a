"""Planner, engines and scheduler commands as processes of a test: real sockets on the loopback, ports that the system chooses."""

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

BOUND_S = 60  # only a fault reaches it


def until(holds, what: str):
    """The first true answer of `holds`, which is asked again within the rate that a server grants."""
    end = time.monotonic() + BOUND_S
    while time.monotonic() < end:
        if answer := holds():
            return answer
        time.sleep(0.02)
    raise AssertionError(f"never: {what}")


class Output:
    """What a program writes to a pipe, gathered as it comes, so that the pipe never fills."""

    def __init__(self, stream):
        self.stream, self.lines = stream, []
        self.changed = threading.Condition()
        self.ended = False
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self) -> None:
        for line in self.stream:
            with self.changed:
                self.lines.append(line.rstrip("\n"))
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def find(self, pattern: str) -> re.Match | None:
        return next((match for line in self.lines if (match := re.search(pattern, line))), None)

    def until(self, pattern: str) -> str:
        """The first group (or all) of the first line that matches."""
        with self.changed:
            self.changed.wait_for(lambda: self.ended or self.find(pattern), BOUND_S)
            match = self.find(pattern)
            if not match:
                raise AssertionError(f"no '{pattern}' in {self.lines}")
            return match[match.re.groups and 1]

    def line(self, index: int) -> str:
        with self.changed:
            self.changed.wait_for(lambda: self.ended or len(self.lines) > index, BOUND_S)
            if len(self.lines) <= index:
                raise AssertionError(f"no line {index} in {self.lines}")
            return self.lines[index]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


class Program:
    """A child process with its output; `close` ends it whatever it does."""

    def __init__(self, *command: str, env: dict | None = None):
        self.process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env={**os.environ, **(env or {})})
        self.out, self.err = Output(self.process.stdout), Output(self.process.stderr)

    def wait(self) -> int:
        code = self.process.wait(timeout=BOUND_S)
        for output in (self.out, self.err):
            output.reader.join(BOUND_S)
        return code

    def stop(self, how: int = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return self.wait()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.wait()
        for output in (self.out, self.err):
            output.stream.close()


class Planner(Program):
    """`dynaplan serve` for two decode engines; `listen` to come back at the address of another one."""

    def __init__(self, dynaplan: str, folder: pathlib.Path, bus: str, *more: str, listen: str = "127.0.0.1:0"):
        super().__init__(dynaplan, "serve", "--set", "mode=decode", "--set", "itl=40", "--set", "decode_engine_num_gpu=1",
                         "--set", "max_gpu_budget=16", "--set", "capabilities.decode.max_kv_tokens=1000000",
                         "--set", f"http.listen={listen}", "--set", f"decisions.path={folder}/decisions",
                         "--set", f"journal.dir={folder}/journal",
                         "--set", f'bus.endpoints=[{{"url": "{bus}", "role": "decode"}}]', *more)
        self.url = self.err.until(r"(http://[0-9.]+:[0-9]+)")
        self.listen = self.url.removeprefix("http://")

    def call(self, method: str, path: str, body: object = None, headers: dict | None = None) -> tuple[int, object]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method, headers=headers or {})
        try:
            with urllib.request.urlopen(request, timeout=BOUND_S) as answer:
                code, text = answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            code, text = error.code, error.read().decode()
        return code, json.loads(text) if text.startswith(("{", "[")) else text

    def decision(self, number: int) -> dict:
        """This decision, when it has been published."""
        def found():
            code, answer = self.call("GET", f"/v1/decisions/{number}")
            return answer if code == 200 else None
        return until(found, f"decision {number}")

    def settled(self, number: int) -> str:
        return until(lambda: (state := self.decision(number)["state"]) != "published" and state, f"decision {number} settled")

    def metric(self, name: str) -> float:
        return float(re.search(rf"^{re.escape(name)} (\S+)", self.call("GET", "/metrics")[1], re.MULTILINE)[1])


class LiveCase(unittest.TestCase):
    """A test with programs: each starts in an empty folder and ends what it started. The module sets `dynaplan` and `recorder`."""

    dynaplan = recorder = ""

    @classmethod
    def setUpClass(cls) -> None:
        cls.scratch = tempfile.TemporaryDirectory()
        cls.recording = pathlib.Path(cls.scratch.name) / "rec.jsonl"
        subprocess.run([cls.recorder, "--out", cls.recording, "--mode", "decode", "--engines", "2", "--minutes", "10",
                        "--rate", "30", "--seed", "3"], check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.scratch.cleanup()

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def workers(self) -> list[int]:
        """The ids in the recording."""
        ids = {json.loads(line)["event"]["fpm"]["worker_id"] for line in self.recording.read_text().splitlines()}
        return sorted(int(text) for text in ids)

    def start(self, program: Program) -> Program:
        self.addCleanup(program.close)
        return program

    def engines(self, bind: str = "tcp://127.0.0.1:*") -> str:
        """Two engines that are too slow for their target, at 20 times their pace; their address."""
        program = self.start(Program(self.dynaplan, "publish", self.recording, "--bind", bind, "--speed", "20"))
        return program.out.until(r"(tcp://\S+)")

    def planner(self, bus: str = "", *more: str, listen: str = "127.0.0.1:0") -> Planner:
        return self.start(Planner(self.dynaplan, self.folder, bus or self.engines(), *more, listen=listen))

    def decisions(self, *words: str, env: dict | None = None) -> Program:
        return self.start(Program(self.dynaplan, "decisions", *words, env=env))
