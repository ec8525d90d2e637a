#!/usr/bin/env python3
"""`dynaplan serve` and `dynaplan publish` as a fleet and a scheduler see them: real sockets on the loopback, ports that the
system chooses. Usage: serve_program_test.py DYNAPLAN MAKE_RECORDING SOURCE_ROOT"""

import json
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

PROGRAM, RECORDER, ROOT = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
sys.path[:0] = [str(ROOT / "tests" / "lint")]
sys.argv = sys.argv[:1]

import case_runner  # noqa: E402

BOUND_S = 40  # only a fault reaches it


def first_line(process: subprocess.Popen, stream, pattern: str) -> str:
    """The first match in what the program prints; fails when it ends before."""
    for line in stream:
        if match := re.search(pattern, line):
            return match[1]
    raise AssertionError(f"ended with {process.wait()} before '{pattern}'")


class Planner:
    def __init__(self, folder: pathlib.Path, bus: str, *more: str, wait: bool = True):
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--set", "mode=decode", "--set", "itl=40", "--set", "decode_engine_num_gpu=1",
             "--set", "max_gpu_budget=16", "--set", "capabilities.decode.max_kv_tokens=1000000",
             "--set", "http.listen=127.0.0.1:0", "--set", f"decisions.path={folder}/decisions",
             "--set", f"journal.dir={folder}/journal",
             "--set", f'bus.endpoints=[{{"url": "{bus}", "role": "decode"}}]', *more],
            stderr=subprocess.PIPE, text=True)
        self.url = first_line(self.process, self.process.stderr, r"(http://[0-9.:]+)") if wait else ""
        # The log must not fill the pipe.
        self.drain = threading.Thread(target=self.process.stderr.read, daemon=True)
        self.drain.start()

    def call(self, method: str, path: str, body: object = None) -> tuple[int, object]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=BOUND_S) as answer:
                code, text = answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            code, text = error.code, error.read().decode()
        return code, json.loads(text) if text.startswith(("{", "[")) else text

    def until(self, path: str, holds) -> object:
        end = time.monotonic() + BOUND_S
        while time.monotonic() < end:
            code, answer = self.call("GET", path)
            if code == 200 and holds(answer):
                return answer
            time.sleep(0.02)  # within the rate that the server grants
        raise AssertionError(f"{path} never came to be as wanted: {answer}")

    def stop(self, how: int = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        code = self.process.wait(timeout=BOUND_S)
        self.drain.join()
        self.process.stderr.close()
        return code


class Engines:
    """Publishes the recording; starts with the first reader."""

    def __init__(self, recording: pathlib.Path, bind: str = "tcp://127.0.0.1:*"):
        self.process = subprocess.Popen([PROGRAM, "publish", str(recording), "--bind", bind, "--speed", "20"],
                                        stdout=subprocess.PIPE, text=True)
        self.url = first_line(self.process, self.process.stdout, r"(tcp://\S+)")

    def end(self) -> int:
        code = self.process.wait(timeout=BOUND_S)
        self.process.stdout.close()
        return code


class Serve(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.scratch = tempfile.TemporaryDirectory()
        cls.recording = pathlib.Path(cls.scratch.name) / "rec.jsonl"
        subprocess.run([RECORDER, "--out", cls.recording, "--mode", "decode", "--engines", "2", "--minutes", "3",
                        "--rate", "30", "--seed", "3"], check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.scratch.cleanup()

    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        self.running: list[subprocess.Popen] = []
        self.addCleanup(self.end_all)

    def end_all(self) -> None:
        for process in self.running:
            if process.poll() is None:
                process.kill()
                process.wait()
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()

    def planner(self, bus: str, *more: str, wait: bool = True) -> Planner:
        planner = Planner(self.path, bus, *more, wait=wait)
        self.running.append(planner.process)
        return planner

    def engines(self) -> Engines:
        engines = Engines(self.recording)
        self.running.append(engines.process)
        return engines

    def test_a_breach_reaches_a_waiting_scheduler_which_acknowledges_it(self) -> None:
        engines = self.engines()
        planner = self.planner(engines.url)
        code, decision = planner.call("GET", "/v1/decisions/next?after=-1&wait=30s")
        self.assertEqual(code, 200)
        self.assertEqual((decision["decision_id"], decision["state"], decision["reason"]), (0, "published", "scale_up"))
        self.assertGreater(decision["decode"], 2)
        self.assertGreater(decision["why"]["decode"]["estimate_max_ms"], 40)
        code, settled = planner.call("POST", "/v1/decisions/0/complete")
        self.assertEqual((code, settled["state"]), (200, "acknowledged"))
        self.assertEqual(planner.call("POST", "/v1/decisions/0/complete")[0], 200, "an old one is accepted again")
        self.assertEqual(planner.call("POST", "/v1/decisions/77/complete")[0], 409)
        state = planner.until("/v1/state", lambda s: len(s["engines"]) == 2)
        self.assertEqual(state["decision"]["decision_id"], 0)
        self.assertEqual(engines.end(), 0)
        metrics = planner.call("GET", "/metrics")[1]
        received = int(re.search(r"dynaplan_fpm_received_total (\d+)", metrics)[1])
        self.assertEqual(received, len(self.recording.read_text().splitlines()))
        self.assertIn(f'dynaplan_fpm_observed_total{{role="decode"}} {received}', metrics)
        self.assertEqual(planner.stop(), 0)
        segments = sorted(str(p) for p in (self.path / "journal").iterdir())
        verified = subprocess.run([PROGRAM, "replay", *segments, "--json"], capture_output=True, timeout=BOUND_S)
        self.assertEqual(verified.returncode, 0, verified.stderr.decode())

    def test_every_metric_is_on_its_page_with_its_type_and_labels_and_the_reverse(self) -> None:
        planner = self.planner(self.engines().url)
        self.assertEqual(planner.call("GET", "/v1/decisions/next?after=-1&wait=30s")[0], 200)
        scrape = planner.call("GET", "/metrics")[1]
        page = (ROOT / "proto" / "metrics.md").read_text()
        rows = {name: (kind, set(re.findall(r"`(\w+)`", labels)))
                for name, kind, labels in re.findall(r"^\| `(dynaplan_\w+)` \| (\w+) \| ([^|]*)\|", page, re.M)}
        self.assertEqual(dict(re.findall(r"^# TYPE (\S+) (\S+)$", scrape, re.M)), {n: kind for n, (kind, _) in rows.items()})
        for name, labels in re.findall(r"^(dynaplan_\w+)\{(.*)\} ", scrape, re.M):
            family = re.sub(r"_(bucket|sum|count)$", "", name) if name not in rows else name
            self.assertLessEqual(set(re.findall(r'(\w+)="', labels)) - {"le"}, rows[family][1], name)
        self.assertEqual(planner.stop(), 0)

    def test_the_port_for_prometheus_shows_health_and_nothing_else(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        planner = self.planner("tcp://127.0.0.1:9", "--set", f"metric_reporting_prometheus_port={port}")
        planner.url = f"http://127.0.0.1:{port}"
        self.assertIn("dynaplan_build_info", planner.call("GET", "/metrics")[1])
        self.assertEqual(planner.call("GET", "/healthz")[0], 200)
        self.assertEqual(planner.call("GET", "/readyz")[0], 503)
        for method, path in (("GET", "/v1/state"), ("GET", "/v1/decisions"), ("POST", "/v1/decisions/0/complete")):
            self.assertEqual(planner.call(method, path)[0], 404, path)
        self.assertEqual(planner.stop(), 0)

    def test_a_restart_after_a_kill_goes_on_with_ids_and_open_decision(self) -> None:
        engines = self.engines()
        planner = self.planner(engines.url)
        self.assertEqual(planner.call("GET", "/v1/decisions/next?after=-1&wait=30s")[0], 200)
        self.assertEqual(planner.stop(signal.SIGKILL), -signal.SIGKILL)
        engines.process.kill()
        engines.end()
        planner = self.planner(self.engines().url)
        state = planner.until("/v1/state", lambda s: s["decision"] is not None)
        self.assertEqual((state["decision"]["decision_id"], state["decision"]["state"]), (0, "published"))
        self.assertIn("decision_pending", [h["reason"] for h in state["holds"]])
        self.assertEqual(planner.call("POST", "/v1/decisions/0/fail")[1]["state"], "failed")
        code, decision = planner.call("GET", "/v1/decisions/next?after=0&wait=30s")
        self.assertEqual((code, decision["decision_id"]), (200, 1))
        self.assertEqual(planner.stop(signal.SIGINT), 0)
        for segment in (self.path / "journal").iterdir():
            verified = subprocess.run([PROGRAM, "replay", str(segment)], capture_output=True, timeout=BOUND_S)
            self.assertEqual(verified.returncode, 0, f"{segment}: {verified.stdout.decode()}")

    def test_a_second_planner_on_the_same_store_stands_by_and_takes_over(self) -> None:
        first = self.planner("tcp://127.0.0.1:9")
        second = self.planner("tcp://127.0.0.1:9", "--set", f"journal.dir={self.path}/journal2")
        state = second.call("GET", "/v1/state")[1]
        self.assertFalse(state["leader"])
        self.assertIn("leader", state["missing"])
        self.assertIn("standby", [h["reason"] for h in state["holds"]])
        self.assertRegex(state["store"]["reason"], f"held by .*{first.process.pid}")
        self.assertEqual(second.call("POST", "/v1/decisions/0/complete")[0], 503)
        self.assertEqual(first.stop(), 0)
        second.until("/v1/state", lambda s: s["leader"])
        self.assertEqual(second.call("POST", "/v1/decisions/0/complete")[0], 409)
        self.assertEqual(second.stop(), 0)

    def test_what_a_client_sends_wrongly_is_refused_with_what_was_expected(self) -> None:
        planner = self.planner("tcp://127.0.0.1:9")
        for path in ("after=x", "after=-2", "wait=61s", "wait=-1s", "wait=30x", "after=0&more=1"):
            code, answer = planner.call("GET", "/v1/decisions/next?" + path)
            self.assertEqual(code, 400, path)
            self.assertIn("expected", answer["error"], path)
        self.assertEqual(planner.call("GET", "/v1/decisions/next?after=-1")[0], 204)
        self.assertEqual(planner.call("POST", "/v1/decisions/x/complete")[0], 400)
        self.assertEqual(planner.call("GET", "/v1/decisions/5")[0], 404)
        for body in ([], {}, {"prefill": {"ready": 1}}, {"decode": {"ready": -1}}, {"decode": {"reddy": 1}}, {"decode": 3}):
            self.assertEqual(planner.call("PUT", "/v1/inventory", body)[0], 400, body)
        self.assertEqual(planner.call("PUT", "/v1/inventory", {"decode": {"ready": 3, "expected": 4, "rolling": True}})[0], 204)
        inventory = planner.call("GET", "/v1/state")[1]["inventory"]
        self.assertEqual(inventory, {"decode": {"ready": 3, "expected": 4, "rolling": True}})
        self.assertEqual(planner.call("GET", "/nowhere")[0], 404)
        self.assertEqual(planner.call("DELETE", "/v1/state")[0], 405)
        self.assertEqual(planner.call("GET", "/healthz")[0], 200)
        code, missing = planner.call("GET", "/readyz")
        self.assertEqual((code, missing), (503, {"missing": ["bus", "engines", "model"]}))
        self.assertEqual(planner.stop(), 0)

    def test_what_cannot_be_served_is_said_at_once(self) -> None:
        def problems(*settings: str) -> str:
            words = [word for setting in settings for word in ("--set", setting)]
            run = subprocess.run([PROGRAM, "serve", *words], capture_output=True, text=True, timeout=BOUND_S)
            self.assertEqual(run.returncode, 2, settings)
            return run.stderr

        self.assertIn("tcp://127.0.0.1:1: mode disagg needs role",
                      problems("mode=disagg", 'bus.endpoints=[{"url": "tcp://127.0.0.1:1"}]'))
        listed = '[{"url": "tcp://127.0.0.1:1", "worker_id": "7"}]'
        self.assertIn("tcp://127.0.0.1:1: mode disagg needs role",
                      problems("mode=disagg", "discovery.backend=static", f"bus.endpoints={listed}"))
        both = problems("mode=decode", "bus.transport=nats", "bus.server=http://127.0.0.1:1", 'bus.endpoints=["tcp://127.0.0.1:1"]')
        self.assertIn("bus.endpoints: are not used with nats", both)
        self.assertRegex(both, "nats://")
        self.assertIn("bus.endpoints: plane event needs", problems("mode=decode", "bus.plane=event"))
        self.assertIn("xpub", problems("mode=decode", "bus.plane=event", "bus.broker=xsub=tcp://127.0.0.1:1"))
        planner = self.planner("tcp://127.0.0.1:9")
        taken = planner.url.removeprefix("http://")
        other = self.planner("tcp://127.0.0.1:9", "--set", f"http.listen={taken}", "--set",
                             f"decisions.path={self.path}/other", "--set", f"journal.dir={self.path}/other-journal", wait=False)
        self.assertEqual(other.process.wait(timeout=BOUND_S), 1)
        other.drain.join()
        other.process.stderr.close()
        self.assertEqual(planner.stop(), 0)


if __name__ == "__main__":
    case_runner.run()
