#!/usr/bin/env python3
"""`dynaplan step`, driven by a program in another language (proto/step.md). Usage: step_program_test.py DYNAPLAN SOURCE_ROOT"""

import json
import pathlib
import subprocess
import sys
import unittest

PROGRAM, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "tests" / "lint")]
sys.argv = sys.argv[:1]

import case_runner  # noqa: E402
from step_client import StepClient, fpm, overloaded_decode_engine  # noqa: E402

CONFIG = ('{"mode":"decode","itl":30,"decode_engine_num_gpu":1,"max_gpu_budget":4,'
          '"capabilities":{"decode":{"max_num_batched_tokens":8192,"max_num_seqs":256,"max_kv_tokens":400000}}}')


def names(answers: list[dict]) -> list[str]:
    return [a["effect"] for a in answers]


def run(lines: str, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([PROGRAM, "step", *arguments], input=lines.encode(), capture_output=True, timeout=60)


class Session(unittest.TestCase):
    def test_each_line_is_answered_at_once_and_closed_by_done(self) -> None:
        with StepClient(PROGRAM, "--config", CONFIG) as client:
            answers = client.send(t=0, event="inventory", role="decode", ready=1, expected=1)
            self.assertEqual(answers[-1], {"t": 0, "effect": "done"})
            self.assertEqual(names(answers), ["wake_at", "done"])
            self.assertEqual(client.finish(), (0, ""))

    def test_an_overloaded_engine_gets_company_and_the_decision_is_acknowledged(self) -> None:
        with StepClient(PROGRAM, "--config", CONFIG) as client:
            client.send(t=0, event="inventory", role="decode", ready=1, expected=1)
            scale = [e for e in overloaded_decode_engine(client, 30.0) if e["effect"] == "scale_to"]
            self.assertEqual(len(scale), 1, "one decision until it is acknowledged")
            self.assertEqual(scale[0]["decision_id"], 0)
            self.assertEqual(scale[0]["decode"], 2)
            self.assertEqual(scale[0]["reason"], "scale_up")
            self.assertGreater(scale[0]["why"]["decode"]["estimate_max_ms"], 30)
            answers = client.send(t=30, event="outcome", decision_id=0, outcome="acknowledged")
            self.assertEqual(answers[-1]["effect"], "done")
            self.assertNotIn("error", names(answers))
            answers = client.send(t=35, event="tick")
            holds = [h["reason"] for a in answers if a["effect"] == "diagnostics" for h in a["holds"]]
            self.assertNotIn("decision_pending", holds)

    def test_wake_ups_strictly_before_a_line_run_each_at_its_time_and_a_tick_runs_those_at_its_own(self) -> None:
        with StepClient(PROGRAM, "--config", CONFIG) as client:
            client.send(t=0, event="inventory", role="decode", ready=1, expected=1)
            ticks = [a["t"] for a in client.send(t=15, event="bus", connected=True) if a["effect"] == "diagnostics"]
            self.assertEqual(ticks, [5, 10])
            ticks = [a["t"] for a in client.send(t=15, event="tick") if a["effect"] == "diagnostics"]
            self.assertEqual(ticks, [15])
            self.assertEqual(names(client.send(t=15, event="tick")), ["done"])

    def test_traffic_is_asked_for(self) -> None:
        with StepClient(PROGRAM, "--config", CONFIG) as client:
            client.send(t=0, event="inventory", role="decode", ready=1, expected=1)
            answers = client.send(t=180, event="tick")
            self.assertIn({"t": 180, "effect": "traffic_wanted", "window_s": 180}, answers)
            answers = client.send(t=180, event="traffic", window_s=180, num_req=540, isl=3000, osl=300)
            self.assertTrue(any(a["effect"] == "diagnostics" and a["ran_throughput"] for a in answers))


class BadLines(unittest.TestCase):
    LINES = [
        b"no json at all",
        b"[1,2]",
        b'{"t":5}',
        b'{"t":"5","event":"tick"}',
        b'{"t":5,"event":"tock"}',
        b'{"t":5,"event":"tick","extra":1}',
        b'{"t":5,"event":"inventory","role":"decode","ready":-1}',
        b'{"t":5,"event":"inventory","role":"decode","ready":1.5}',
        b'{"t":5,"event":"fpm","role":"decode","fpm":{"worker_id":"","wall_time":0.1}}',
        b'{"t":5,"event":"fpm","role":"decode","fpm":{"worker_id":"7","wall_time":-1}}',
        b'{"t":5,"event":"outcome","decision_id":3,"outcome":"acknowledged"}',
        b'{"t":5,"event":"published","proposal":0,"decision_id":0}',
        b'{"t":1e300,"event":"tick"}',
        b'{"t":1e9,"event":"tick"}',
        b"\xff\xfe\x00",
    ]

    def test_each_gets_an_error_and_done_and_the_core_goes_on(self) -> None:
        with StepClient(PROGRAM, "--config", CONFIG) as client:
            client.send(t=0, event="inventory", role="decode", ready=1, expected=1)
            for line in self.LINES:
                with self.subTest(line=line):
                    answers = client.send_line(line)
                    self.assertEqual(names(answers)[-2:], ["error", "done"])
                    self.assertTrue(answers[-2]["message"])
            self.assertIn("diagnostics", names(client.send(t=10, event="tick")))
            answers = client.send(t=9, event="tick")
            self.assertEqual(names(answers), ["error", "done"], "an earlier time")
            code, told = client.finish()
            self.assertEqual(code, 0)
            self.assertIn(f"{len(self.LINES) + 1} of ", told)

    def test_a_malformed_line_changes_nothing(self) -> None:
        good = ['{"t":0,"event":"inventory","role":"decode","ready":1,"expected":1}', '{"t":20,"event":"tick"}']
        plain = run("\n".join(good) + "\n", "--config", CONFIG).stdout.decode()
        mixed = run("\n".join([good[0], "rubbish", '{"t":19,"event":"tock"}', good[1]]) + "\n", "--config", CONFIG)
        kept = [json.loads(line) for line in mixed.stdout.decode().splitlines()]
        self.assertEqual([a for a in kept if a["effect"] not in ("error", "done")],
                         [a for a in map(json.loads, plain.splitlines()) if a["effect"] != "done"])

    def test_before_the_first_time_there_is_none(self) -> None:
        answers = [json.loads(line) for line in run("rubbish\n").stdout.decode().splitlines()]
        self.assertEqual([a["t"] for a in answers], [None, None])

    def test_a_line_beyond_one_mebibyte_is_thrown_away(self) -> None:
        lines = '{"t":0,"event":"tick"}\n{"t":1,"event":"' + "x" * (1 << 20) + '"}\n{"t":2,"event":"tick"}\n'
        done = run(lines)
        answers = [json.loads(line) for line in done.stdout.decode().splitlines()]
        self.assertEqual(sum(a["effect"] == "error" for a in answers), 1)
        self.assertEqual(answers[-1], {"t": 2, "effect": "done"})

    def test_a_last_line_without_its_end_counts_and_blank_lines_do_not(self) -> None:
        answers = run('{"t":0,"event":"tick"}\n\n   \n{"t":1,"event":"tick"}').stdout.decode().splitlines()
        self.assertEqual(sum('"done"' in a for a in answers), 2)


class Program(unittest.TestCase):
    def test_the_sample_lines_of_the_protocol_are_taken(self) -> None:
        samples = (ROOT / "proto" / "samples" / "step_events.jsonl").read_text()
        done = run(samples, "--set", "mode=decode")
        answers = [json.loads(line) for line in done.stdout.decode().splitlines()]
        errors = [a["message"] for a in answers if a["effect"] == "error"]
        # The samples hold the two answers of the coordinator, a decision that this run never published, and a field
        # that needs a restart.
        expected = ["coordinator of this program", "coordinator of this program", "never published", "while running"]
        self.assertEqual(len(errors), len(expected), errors)
        for message, part in zip(errors, expected):
            self.assertIn(part, message)

    def test_wrong_configuration_is_exit_2_with_the_field(self) -> None:
        done = run("", "--set", "policy.triger=tick")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"trigger", done.stderr)
        self.assertEqual(run("", "--no-such-flag").returncode, 2)

    def test_the_same_input_gives_the_same_bytes(self) -> None:
        lines = "".join(
            json.dumps({"t": i * 0.05, "event": "fpm", "role": "decode",
                        "fpm": fpm(str(i % 3), i, 0.02 + 1e-5 * (i % 7), num_decode_requests=3 + i % 5,
                                   sum_decode_kv_tokens=9000 + 100 * (i % 17))}) + "\n" for i in range(2000))
        first = run(lines, "--config", CONFIG).stdout
        self.assertEqual(first, run(lines, "--config", CONFIG).stdout)
        self.assertEqual(first.count(b'"done"'), 2000)


if __name__ == "__main__":
    case_runner.run()
