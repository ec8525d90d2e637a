"""A client as they exist today against the planner's side in a real etcd: `virtual_client_test.py PLANNER_ON_ETCD`."""

import os
import queue
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

from virtual_client import EtcdError, ScalingDecision, VirtualConnectorClient

PLANNER = sys.argv.pop(1) if len(sys.argv) > 1 else ""
PATIENCE_S = 30  # far longer than anything here takes


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Etcd:
    """A real etcd on free ports, its data in a temporary folder."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        for _ in range(5):
            self.url = f"http://127.0.0.1:{free_port()}"
            self.process = subprocess.Popen(
                [
                    "etcd",
                    "--data-dir=" + self.folder.name + "/data",
                    "--listen-client-urls=" + self.url,
                    "--advertise-client-urls=" + self.url,
                    "--listen-peer-urls=http://127.0.0.1:0",
                    "--initial-advertise-peer-urls=http://127.0.0.1:0",
                    "--initial-cluster=default=http://127.0.0.1:0",
                    "--logger=zap",
                    "--log-level=error",
                    "--unsafe-no-fsync",
                ],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            if self._ready():
                return
            self.process.kill()
            self.process.wait()
        raise AssertionError("etcd does not start")

    def _ready(self) -> bool:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                with urllib.request.urlopen(self.url + "/health", timeout=5) as answer:
                    if b'"true"' in answer.read():
                        return True
            except OSError:
                time.sleep(0.01)  # between two looks
        return False

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


class Planner:
    """The program with its pipes; its lines are read by a thread, so that waiting for one is bounded."""

    def __init__(self, url: str, namespace: str) -> None:
        self.process = subprocess.Popen(
            [PLANNER, url, namespace], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.lines: queue.Queue[str] = queue.Queue()
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))

    def line(self) -> str:
        return self.lines.get(timeout=PATIENCE_S)

    def propose(self, prefill: int, decode: int) -> None:
        self.process.stdin.write(f"{prefill} {decode}\n")
        self.process.stdin.flush()

    def stop(self) -> int:
        self.process.stdin.close()
        code = self.process.wait(timeout=PATIENCE_S)
        self.thread.join()
        self.process.stdout.close()
        return code


class VirtualClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.etcd = Etcd()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.etcd.stop()

    def setUp(self) -> None:
        self.namespace = self.id().rsplit(".", 1)[-1]
        self.planner = Planner(self.etcd.url, self.namespace)
        self.client = VirtualConnectorClient(self.etcd.url, self.namespace)
        self.assertEqual(self.planner.line(), "ready")

    def tearDown(self) -> None:
        self.client.stop()
        self.assertEqual(self.planner.stop(), 0)

    def test_wait_get_complete(self) -> None:
        """The loop that schedulers run. It is woken by the first event of a decision, and reads the whole."""
        self.assertEqual(self.client.get(), ScalingDecision(-1, -1, -1))
        for number in range(30):
            # The planner decides while the client waits: an event between two waits is lost to such a client.
            self.client.wait(on_watching=lambda: self.planner.propose(number + 1, 2 * number + 1))
            decision = self.client.get()
            self.assertEqual(decision, ScalingDecision(number + 1, 2 * number + 1, number))
            self.assertEqual(self.planner.line(), f"published {number}")
            self.client.complete(decision)
            self.assertEqual(self.planner.line(), f"outcome {number} acknowledged")

    def test_unacknowledged(self) -> None:
        """Until the client has answered, the next decision waits."""
        self.planner.propose(1, 1)
        self.assertEqual(self.planner.line(), "published 0")
        self.planner.propose(2, 2)
        self.assertEqual(self.planner.line(), "refused not_ready")
        self.client.complete(ScalingDecision())  # -1, as a client does that starts before there is a decision
        self.planner.propose(2, 2)
        self.assertEqual(self.planner.line(), "refused not_ready")
        self.client.complete(self.client.get())
        self.assertEqual(self.planner.line(), "outcome 0 acknowledged")
        self.planner.propose(1, 1)
        self.assertEqual(self.planner.line(), "refused unchanged")
        self.planner.propose(2, 2)
        self.assertEqual(self.planner.line(), "published 1")

    def test_own_acknowledgement_wakes(self) -> None:
        """Anything under the root wakes such a client, its own key as well; our own records do not."""
        self.planner.propose(1, 1)
        self.assertEqual(self.planner.line(), "published 0")
        self.client.wait(on_watching=lambda: self.client.complete(self.client.get()))
        self.assertEqual(self.planner.line(), "outcome 0 acknowledged")
        self.assertEqual(
            set(self.client.gateway.list(self.client.root)),
            {
                self.client.root + name
                for name in ("num_prefill_workers", "num_decode_workers", "decision_id", "scaled_decision_id")
            },
        )

    def test_client_stops(self) -> None:
        """With the client goes its acknowledgement: the decision is open again until one answers it."""
        self.planner.propose(3, 4)
        self.assertEqual(self.planner.line(), "published 0")
        self.client.complete(self.client.get())
        self.assertEqual(self.planner.line(), "outcome 0 acknowledged")
        self.client.stop()
        self.assertEqual(self.planner.line(), "restored 0 3 4 published")
        self.planner.propose(5, 5)
        self.assertEqual(self.planner.line(), "refused not_ready")
        self.client = VirtualConnectorClient(self.etcd.url, self.namespace)
        decision = self.client.get()
        self.assertEqual(decision, ScalingDecision(3, 4, 0))
        self.client.complete(decision)
        self.assertEqual(self.planner.line(), "outcome 0 acknowledged")

    def test_planner_restarts(self) -> None:
        """What is wanted outlives the planner, and the next one goes on where it was."""
        self.planner.propose(3, 4)
        self.assertEqual(self.planner.line(), "published 0")
        self.assertEqual(self.planner.stop(), 0)
        self.assertEqual(self.client.get(), ScalingDecision(3, 4, 0))
        self.planner = Planner(self.etcd.url, self.namespace)
        self.assertEqual(self.planner.line(), "restored 0 3 4 published")
        self.assertEqual(self.planner.line(), "ready")
        self.client.complete(self.client.get())
        self.assertEqual(self.planner.line(), "outcome 0 acknowledged")
        self.client.wait(on_watching=lambda: self.planner.propose(6, 4))
        self.assertEqual(self.client.get(), ScalingDecision(6, 4, 1))
        self.assertEqual(self.planner.line(), "published 1")

    def test_unparsable(self) -> None:
        """One bad value fails a client's whole read, and is unset for the planner, which writes over it."""
        self.client.gateway.put(self.client.root + "num_decode_workers", "many")
        with self.assertRaises(ValueError):
            self.client.get()
        self.planner.propose(1, 2)
        self.assertEqual(self.planner.line(), "published 0")
        self.assertEqual(self.client.get(), ScalingDecision(1, 2, 0))

    def test_dead_lease(self) -> None:
        """What etcd says of the contract's other half: an acknowledgement on a lease that is gone fails."""
        self.planner.propose(1, 1)
        self.assertEqual(self.planner.line(), "published 0")
        stopped = VirtualConnectorClient(self.etcd.url, self.namespace)
        stopped.stop()
        with self.assertRaises(EtcdError):
            stopped.complete(stopped.get())


if __name__ == "__main__":
    if shutil.which("etcd") is None:
        print("etcd is not installed: " + ("failed" if os.environ.get("CI") == "true" else "skipped"))
        print("tools/setup brings it")
        sys.exit(1 if os.environ.get("CI") == "true" else 77)
    unittest.main()
