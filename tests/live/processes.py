"""The processes of a live test: a planner, the engines of live_load, and what can be asked of both. Real sockets on the
loopback, ports that the system chooses, folders of the caller's. Whoever starts them ends them: use `with`."""

import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

BOUND_S = 40.0  # for what takes moments: only a fault reaches it


class Fault(Exception):
    """What a live test found; its text is the line that a reader of the log needs."""


def until(what: str, holds, bound_s: float = BOUND_S, every_s: float = 0.02):
    """Asks again until `holds()` gives something true, which is returned."""
    end = time.monotonic() + bound_s
    while True:
        answer = holds()
        if answer:
            return answer
        if time.monotonic() >= end:
            raise Fault(f"{what}: not within {bound_s:g} s")
        time.sleep(every_s)  # between two looks; what ends the wait is the condition


class Http:
    """Requests on a kept connection; ConnectionError when the planner does not answer. One thread."""

    def __init__(self, address: str, timeout_s: float = BOUND_S):
        self.connection = http.client.HTTPConnection(address, timeout=timeout_s)

    def call(self, method: str, path: str, body: object = None) -> tuple[int, object]:
        try:
            self.connection.request(method, path, None if body is None else json.dumps(body))
            answer = self.connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            self.hang_up()
            raise ConnectionError(f"{method} {path}: {error!r}") from error
        return answer.status, json.loads(text) if text.startswith(("{", "[")) else text

    def hang_up(self) -> None:
        self.connection.close()


class Process:
    def __init__(self, command: list[str], **more):
        self.process = subprocess.Popen(command, text=True, **more)

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    pass

    @property
    def pid(self) -> int:
        return self.process.pid

    def send(self, signal_number: int) -> None:
        self.process.send_signal(signal_number)

    def end(self, how: int = signal.SIGTERM) -> int:
        self.send(how)
        return self.process.wait(timeout=BOUND_S)

    def cpu_s(self) -> float:
        """Processor time so far, user and system."""
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_kb(self) -> int:
        return int(pathlib.Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


class Engines(Process):
    """live_load. `breach()` and `calm()` give the monotonic time, ns, at which the report that matters was sent."""

    def __init__(self, program: str, *options: str):
        super().__init__([program, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.urls: list[str] = []
        self.in_breach = False

    def _line(self) -> str:
        line = self.process.stdout.readline()
        if not line:
            raise Fault(f"live_load ended with {self.process.wait()}")
        return line

    def endpoints(self, count: int = 1) -> list[str]:
        while len(self.urls) < count:
            self.urls.append(self._line().split()[1])
        return self.urls

    def started(self) -> int:
        return int(self._line().split()[1])

    def _order(self, word: str) -> int:
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        answer = self._line().split()
        if answer[0] != word:
            raise Fault(f"live_load answered '{word}' with {answer}")
        return int(answer[1])

    def breach(self) -> int:
        self.in_breach = True
        return self._order("breach")

    def calm(self) -> int:
        self.in_breach = False
        return self._order("calm")

    def summary(self, quit_now: bool = False) -> dict:
        if quit_now:
            self.process.stdin.write("quit\n")
            self.process.stdin.flush()
        text = self.process.stdout.read()
        code = self.process.wait(timeout=BOUND_S)
        if code != 0:
            raise Fault(f"live_load ended with {code}")
        return json.loads(text.strip().splitlines()[-1])


def serve_command(program: str, folder: pathlib.Path, buses: list[str], *settings: str) -> list[str]:
    """`dynaplan serve` for decode engines with itl=40, as live_load makes them. `settings` are NAME=VALUE."""
    endpoints = json.dumps([{"url": url, "role": "decode"} for url in buses])
    chosen = {"mode": "decode", "itl": "40", "decode_engine_num_gpu": "1", "max_gpu_budget": "-1",
              "capabilities.decode.max_kv_tokens": "1000000", "http.listen": "127.0.0.1:0",
              "enable_throughput_scaling": "false", "decisions.path": f"{folder}/decisions",
              "journal.dir": f"{folder}/journal", "bus.endpoints": endpoints}
    chosen.update(setting.split("=", 1) for setting in settings)
    return [program, "serve", *(word for name, value in chosen.items() for word in ("--set", f"{name}={value}"))]


class Planner(Process):
    """A running `dynaplan serve`, its log and its API."""

    def __init__(self, program: str, folder: pathlib.Path, buses: list[str], *settings: str, journal: str = "journal",
                 wait: bool = True):
        command = serve_command(program, folder, buses, f"journal.dir={folder}/{journal}", *settings)
        self.program, self.journal = program, folder / journal
        super().__init__(command, stderr=subprocess.PIPE)
        self.log: list[str] = []
        self.url = ""
        self._http: Http | None = None
        self._listening = threading.Event()
        # Its own thread: the log must not fill the pipe.
        self.reader = threading.Thread(target=self._read_log, daemon=True)
        self.reader.start()
        if wait:
            self.wait_listening()

    def wait_listening(self) -> None:
        self._listening.wait(BOUND_S)
        if not self.url:
            code = self.process.poll()
            self.__exit__()
            raise Fault(f"serve does not listen (exit {code}): {''.join(self.log[-5:])}")

    def _read_log(self) -> None:
        for line in self.process.stderr:
            self.log.append(line)
            del self.log[:-2000]
            if not self.url and (match := re.search(r"http://([0-9.]+:[0-9]+)", line)):
                self.url = match[1]
                self._listening.set()
        self._listening.set()  # it has ended

    def __exit__(self, *_) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.reader.join()
        if self._http is not None:
            self._http.hang_up()
        super().__exit__()

    def call(self, method: str, path: str, body: object = None) -> tuple[int, object]:
        if self._http is None:
            self._http = Http(self.url)
        return self._http.call(method, path, body)

    def state(self) -> dict:
        return self.call("GET", "/v1/state")[1]

    def state_when(self, what: str, holds, bound_s: float = BOUND_S) -> dict:
        def look():
            state = self.state()
            return state if holds(state) else None
        return until(what, look, bound_s)

    def metric(self, name: str) -> float:
        """The sum over a family's samples; 0 while there are none."""
        text = self.call("GET", "/metrics")[1]
        return sum(float(m[1]) for m in re.finditer(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.M))

    def decisions(self) -> list[dict]:
        return self.call("GET", "/v1/decisions")[1]["decisions"]


def replay_each(program: str, folder: pathlib.Path) -> int:
    """Each segment on its own must give the effects that it holds; how many there were."""
    segments = sorted(path for path in folder.iterdir() if path.is_file())
    for segment in segments:
        done = subprocess.run([program, "replay", str(segment)], capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            raise Fault(f"replay {segment.name}: exit {done.returncode}: {(done.stderr or done.stdout).strip()[-600:]}")
    return len(segments)


def quantile(values: list[float], q: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]
