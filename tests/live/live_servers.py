"""nats-server and etcd as processes of a test, on free ports of the loopback and in the test's folder."""

import base64
import json
import os
import pathlib
import shutil
import socket
import subprocess
import time
import unittest
import urllib.request

BOUND_S = 60  # only a fault reaches it


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def need(*programs: str) -> None:
    """Skips the test where a server is not installed; under CI that is a failure."""
    for program in programs:
        if not shutil.which(program) and not pathlib.Path("/usr/sbin", program).exists():
            if os.environ.get("CI") == "true":
                raise AssertionError(f"{program} is not installed")
            raise unittest.SkipTest(f"{program} is not installed")


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


class Server:
    """Can be stopped and started again at the same address, on the same data."""

    def __init__(self):
        self.process = None

    def command(self) -> list[str]:
        raise NotImplementedError

    def start(self) -> None:
        self.process = subprocess.Popen(self.command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + BOUND_S
        while not answers(self.port):
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"{self.command()[0]} does not answer")
            time.sleep(0.02)

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=BOUND_S)


class Nats(Server):
    def __init__(self):
        super().__init__()
        self.port = free_port()
        self.url = f"nats://127.0.0.1:{self.port}"

    def command(self) -> list[str]:
        return [shutil.which("nats-server") or "/usr/sbin/nats-server", "-a", "127.0.0.1", "-p", str(self.port)]


class Etcd(Server):
    """With its v3 JSON gateway: keys and values are base64, whole numbers are strings."""

    def __init__(self, folder: pathlib.Path, fsync: bool = False):
        super().__init__()
        self.folder, self.port, self.peers = folder / "etcd", free_port(), free_port()
        self.more = [] if fsync else ["--unsafe-no-fsync"]
        self.url = f"http://127.0.0.1:{self.port}"

    def command(self) -> list[str]:
        peers = f"http://127.0.0.1:{self.peers}"
        return [shutil.which("etcd"), "--data-dir", str(self.folder), "--listen-client-urls", self.url, "--advertise-client-urls",
                self.url, "--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster",
                f"default={peers}", *self.more]

    def call(self, path: str, **body) -> dict:
        request = urllib.request.Request(self.url + "/v3/" + path, data=json.dumps(body).encode(), method="POST")
        with urllib.request.urlopen(request, timeout=BOUND_S) as answer:
            return json.load(answer)

    def put(self, key: str, value: object, lease: int = 0) -> None:
        text = value if isinstance(value, str) else json.dumps(value)
        self.call("kv/put", key=base64.b64encode(key.encode()).decode(), value=base64.b64encode(text.encode()).decode(),
                  lease=str(lease))

    def takes(self, key: str, value: str) -> bool:
        """Whether it serves writes: for a moment after its start it listens and does not."""
        try:
            self.put(key, value)
            return True
        except OSError:
            return False

    def get(self, key: str) -> str | None:
        kvs = self.call("kv/range", key=base64.b64encode(key.encode()).decode()).get("kvs", [])
        return base64.b64decode(kvs[0]["value"]).decode() if kvs else None

    def delete(self, key: str) -> None:
        self.call("kv/deleterange", key=base64.b64encode(key.encode()).decode())
