#!/usr/bin/env python3
"""`dynaplan record` against `dynaplan publish`: what was sent is in the file, which replays to the same effects.
Usage: record_program_test.py DYNAPLAN MAKE_RECORDING SOURCE_ROOT"""

import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM, RECORDER, ROOT = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
sys.path[:0] = [str(ROOT / "tests" / "lint")]
sys.argv = sys.argv[:1]

import case_runner  # noqa: E402

BOUND_S = 40  # only a fault reaches it


def settings(bus: str) -> list[str]:
    pairs = {"mode": "decode", "itl": "40", "decode_engine_num_gpu": "1", "capabilities.decode.max_kv_tokens": "1000000",
             "bus.endpoints": json.dumps([{"url": bus, "role": "decode"}])}
    return [word for name, value in pairs.items() for word in ("--set", f"{name}={value}")]


class Record(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def test_what_was_published_is_in_the_file_and_replays_to_the_same_effects(self) -> None:
        trace = self.path / "rec.jsonl"
        subprocess.run([RECORDER, "--out", trace, "--mode", "decode", "--engines", "2", "--minutes", "1", "--rate", "30",
                        "--seed", "3"], check=True, stdout=subprocess.DEVNULL)
        reports = len(trace.read_text().splitlines())
        publisher = subprocess.Popen([PROGRAM, "publish", trace, "--bind", "tcp://127.0.0.1:*", "--speed", "60"],
                                     stdout=subprocess.PIPE, text=True)
        bus = re.search(r"tcp://\S+", publisher.stdout.readline())[0]
        journal = self.path / "run.journal"
        recorded = subprocess.run([PROGRAM, "record", *settings(bus), "--out", journal, "--reports", str(reports)],
                                  capture_output=True, text=True, timeout=BOUND_S)
        publisher.stdout.read()
        self.assertEqual(publisher.wait(timeout=BOUND_S), 0)
        publisher.stdout.close()
        self.assertEqual(recorded.returncode, 0, recorded.stderr)
        self.assertIn(f"{reports} of them reports (0 messages refused, 0 lost on the way)", recorded.stdout)
        verified = subprocess.run([PROGRAM, "replay", journal, "--json"], capture_output=True, text=True, timeout=BOUND_S)
        self.assertEqual(verified.returncode, 0, verified.stderr)
        other = subprocess.run([PROGRAM, "replay", journal, "--set", "itl=30"], capture_output=True, text=True, timeout=BOUND_S)
        self.assertEqual(other.returncode, 0, other.stderr)
        self.assertIn("> 30 ms", other.stdout)

    def test_a_signal_ends_it_with_a_whole_file_though_nobody_reported(self) -> None:
        journal = self.path / "empty.journal"
        recorder = subprocess.Popen([PROGRAM, "record", *settings("tcp://127.0.0.1:9"), "--out", journal],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertIn("recording zmq engine", recorder.stderr.readline())
        recorder.send_signal(signal.SIGTERM)
        said, _ = recorder.communicate(timeout=BOUND_S)
        self.assertEqual(recorder.returncode, 0)
        self.assertIn("0 of them reports", said)
        self.assertEqual(subprocess.run([PROGRAM, "replay", journal], capture_output=True, timeout=BOUND_S).returncode, 0)

    def test_what_cannot_be_recorded_is_said_at_once(self) -> None:
        unwritable = subprocess.run([PROGRAM, "record", *settings("tcp://127.0.0.1:9"), "--out", self.path / "no" / "x"],
                                    capture_output=True, text=True, timeout=BOUND_S)
        self.assertEqual(unwritable.returncode, 1)
        self.assertIn(str(self.path / "no" / "x"), unwritable.stderr)
        wrong = subprocess.run([PROGRAM, "record", "--set", "mode=disagg", "--set", "bus.endpoints=[]", "--out", self.path / "x"],
                               capture_output=True, text=True, timeout=BOUND_S)
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("bus.endpoints", wrong.stderr)


if __name__ == "__main__":
    case_runner.run()
