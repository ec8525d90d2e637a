#!/usr/bin/env python3
"""`dynaplan decisions --etcd` on a real etcd, whose keys are written as a planner of any kind writes them.
Usage: decisions_etcd_test.py DYNAPLAN MAKE_RECORDING SOURCE_ROOT"""

import json
import pathlib
import signal
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[3])
sys.path[:0] = [str(ROOT / "tests" / part) for part in ("lint", "unit/app", "live")]

import case_runner  # noqa: E402
from live_programs import Program, until  # noqa: E402
from live_servers import Etcd, need  # noqa: E402

DYNAPLAN = sys.argv[1]
sys.argv = sys.argv[:1]

PLANNER = "v1/team-a/planner/"


class DecisionsInEtcd(unittest.TestCase):
    def setUp(self) -> None:
        need("etcd")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.etcd = Etcd(self.folder)
        self.addCleanup(self.etcd.stop)
        self.etcd.start()

    def publish(self, number: int, prefill: int, decode: int) -> None:
        """As the reference does it: one put each, the id last."""
        self.etcd.put(PLANNER + "num_prefill_workers", str(prefill))
        self.etcd.put(PLANNER + "num_decode_workers", str(decode))
        self.etcd.put(PLANNER + "decision_id", str(number))

    def acknowledged(self) -> str | None:
        return self.etcd.get(PLANNER + "scaled_decision_id")

    def decisions(self, *words: str, name_space: str = "team-a") -> Program:
        program = Program(DYNAPLAN, "decisions", *words, "--etcd", self.etcd.url, env={"DYN_NAMESPACE": name_space})
        self.addCleanup(program.close)
        return program

    def test_watch_carries_out_what_stands_there_and_what_comes(self) -> None:
        self.publish(4, 1, 2)
        watch = self.decisions("watch", "--exec", f'echo "$DYNAPLAN_DECISION_ID $DYNAPLAN_PREFILL $DYNAPLAN_DECODE" >> {self.folder}/runs',
                               "--count", "2")
        until(lambda: self.acknowledged() == "4", "4 is acknowledged")
        self.publish(5, 3, 7)
        self.assertEqual(watch.wait(), 0, watch.err.text)
        self.assertEqual(self.acknowledged(), "5")
        self.assertEqual((self.folder / "runs").read_text(), "4 1 2\n5 3 7\n")

    def test_wait_reacts_to_the_id_alone(self) -> None:
        self.publish(4, 1, 2)
        self.etcd.put(PLANNER + "scaled_decision_id", "4")
        waiting = self.decisions("wait")
        self.assertEqual(self.decisions("wait", "--timeout", "0.3").wait(), 4)
        self.etcd.put(PLANNER + "scaled_decision_id", "3")
        self.etcd.put(PLANNER + "scaled_decision_id", "4")
        self.publish(5, 1, 3)
        self.assertEqual(waiting.wait(), 0, waiting.err.text)
        self.assertEqual(json.loads(waiting.out.text), {"decision_id": 5, "state": "published", "prefill": 1, "decode": 3})

    def test_complete_never_lowers_and_never_runs_ahead(self) -> None:
        self.publish(4, 1, 2)
        ahead = self.decisions("complete", "5")
        self.assertEqual(ahead.wait(), 1)
        self.assertIn("decision 5 was never published", ahead.err.text)
        self.assertIsNone(self.acknowledged())
        both = [self.decisions("complete", "4") for _ in range(2)]
        self.assertEqual([b.wait() for b in both], [0, 0])
        self.assertEqual(json.loads(both[0].out.text)["state"], "acknowledged")
        self.assertEqual(self.decisions("complete", "2").wait(), 0)
        self.assertEqual(self.acknowledged(), "4")

    def test_a_failure_cannot_be_told_and_leaves_the_decision_open(self) -> None:
        self.publish(4, 1, 2)
        failed = self.decisions("fail", "4")
        self.assertEqual(failed.wait(), 1)
        self.assertIn("cannot say that a decision failed", failed.err.text)
        watch = self.decisions("watch", "--exec", "exit 3", "--count", "1")
        self.assertEqual(watch.wait(), 1)
        self.assertIn("decision 4 stays open", watch.err.text)
        self.assertIsNone(self.acknowledged())

    def test_an_etcd_that_restarts_loses_nothing(self) -> None:
        self.publish(4, 1, 2)
        watch = self.decisions("watch")
        self.assertEqual(json.loads(watch.out.line(0))["decision_id"], 4)
        self.etcd.stop()
        watch.err.until("trying again")
        self.etcd.start()
        self.publish(5, 1, 3)
        self.assertEqual(json.loads(watch.out.line(1))["decision_id"], 5)
        self.assertEqual(watch.stop(signal.SIGINT), 130)
        self.assertEqual(len(watch.out.lines), 2)

    def test_show_and_values_that_are_no_numbers(self) -> None:
        shown = self.decisions("show", name_space="team-b")
        self.assertEqual(shown.wait(), 1)
        self.assertIn("no decision has been published", shown.err.text)
        self.publish(4, 1, 2)
        shown = self.decisions("show", "4", "--namespace", "team-a", name_space="team-b")
        self.assertEqual((shown.wait(), json.loads(shown.out.text)["decode"]), (0, 2))
        self.etcd.put(PLANNER + "scaled_decision_id", "many")
        self.assertEqual(json.loads(self.decisions("show").out.line(0))["state"], "published")
        self.etcd.put(PLANNER + "num_decode_workers", "many")
        shown = self.decisions("show")
        self.assertEqual(shown.wait(), 1)
        self.assertIn("num_decode_workers holds no number", shown.err.text)


if __name__ == "__main__":
    case_runner.run()
