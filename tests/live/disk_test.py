#!/usr/bin/env python3
"""Disks that refuse: decisions go on without the journal, nothing goes on without the store, both say so and go on by
themselves. A full disk is a limit on the size of files (RLIMIT_FSIZE), which needs no rights and can be lifted from outside,
and a tiny tmpfs where this process may mount one.

Usage: disk_test.py DYNAPLAN LIVE_LOAD"""

import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import unittest

PROGRAM, LOAD = sys.argv[1], sys.argv[2]
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / "lint")]
sys.argv = sys.argv[:1]

import case_runner  # noqa: E402
from processes import BOUND_S, Engines, Http, Planner, Process, replay_each, serve_command, until  # noqa: E402

SETTINGS = ("load_adjustment_interval=1", "policy.reaction_min_interval_s=0.02", "policy.guard_deadline_s=0.05")
NOBODY = 65534


def limit_files(planner: Planner, size: int) -> None:
    """No file of the planner's may grow beyond `size` bytes from now on."""
    hard = resource.prlimit(planner.pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(planner.pid, resource.RLIMIT_FSIZE, (size, hard))


class Disk(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.path = pathlib.Path(scratch.name)
        self.last = -1

    def engines(self) -> Engines:
        return self.enterContext(Engines(LOAD, "--engines", "10", "--rate", "100", "--drops"))

    def enterContext(self, context):  # as unittest has it from Python 3.11 on
        entered = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return entered

    def planner(self, engines: Engines, *settings: str) -> Planner:
        planner = self.enterContext(Planner(PROGRAM, self.path, engines.endpoints(), *SETTINGS, *settings))
        engines.started()
        planner.state_when("ready", lambda s: s["ready"] and len(s["engines"]) == 10)
        return planner

    def decide(self, planner: Planner, engines: Engines) -> int:
        """A breach, the decision that it brings, and its acknowledgement."""
        engines.breach()
        code, decision = planner.call("GET", f"/v1/decisions/next?after={self.last}&wait=20s")
        engines.calm()
        self.assertEqual(code, 200, decision)
        self.last = decision["decision_id"]
        code, settled = planner.call("POST", f"/v1/decisions/{self.last}/complete")
        self.assertEqual((code, settled["state"]), (200, "acknowledged"))
        return self.last

    def degrades_and_recovers(self, planner: Planner, engines: Engines, reason: str, make_room) -> None:
        """The journal's disk is full, or about to be."""
        def degraded(state):
            return state["journal"]["state"] == "degraded" and state["journal"]["reason"]
        state = planner.state_when("the journal is degraded", degraded)
        self.assertRegex(state["journal"]["reason"], reason)
        self.assertEqual(planner.metric("dynaplan_journal_degraded"), 1)
        first = self.decide(planner, engines)
        self.assertEqual(self.decide(planner, engines), first + 1, "decisions go on without the journal")
        make_room()
        planner.state_when("the journal works again", lambda s: s["journal"]["state"] == "ok")
        self.assertEqual(planner.metric("dynaplan_journal_degraded"), 0)
        self.decide(planner, engines)
        self.assertEqual(planner.metric("dynaplan_journal_dropped_total"), 0, "what the buffer held was kept")
        self.assertEqual(planner.end(), 0)
        self.assertGreaterEqual(replay_each(PROGRAM, planner.journal), 2, "a new segment begins after the trouble")

    def test_a_journal_that_is_full_degrades_and_comes_back_while_decisions_go_on(self) -> None:
        engines = self.engines()
        planner = self.planner(engines)
        self.decide(planner, engines)
        # The decisions file stays far below this.
        grown = max(path.stat().st_size for path in planner.journal.iterdir())
        limit_files(planner, max(grown, 65536) + 4096)
        self.degrades_and_recovers(planner, engines, "File too large", lambda: limit_files(planner, resource.RLIM_INFINITY))

    def test_a_journal_on_a_tmpfs_that_is_full_degrades_and_comes_back(self) -> None:
        journal = self.path / "journal"
        journal.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "none", str(journal)], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("this process may not mount a tmpfs")
        self.addCleanup(subprocess.run, ["umount", "-l", str(journal)], check=True)
        engines = self.engines()
        planner = self.planner(engines)

        def make_room() -> None:
            subprocess.run(["mount", "-o", "remount,size=64m", str(journal)], check=True)
        self.degrades_and_recovers(planner, engines, "No space left", make_room)

    @unittest.skipUnless("DYNAPLAN_LONG" in os.environ, "fills 16 MiB of buffer: only with tools/test --long")
    def test_a_journal_that_is_full_for_long_drops_counts_and_says_so_in_the_next_segment(self) -> None:
        engines = self.enterContext(Engines(LOAD, "--engines", "10", "--rate", "2000", "--drops"))
        planner = self.planner(engines)
        limit_files(planner, 1 << 20)
        planner.state_when("the buffer is full", lambda s: s["journal"]["dropped"] > 1000, bound_s=120.0)
        limit_files(planner, resource.RLIM_INFINITY)
        planner.state_when("the journal works again", lambda s: s["journal"]["state"] == "ok")
        dropped = planner.metric("dynaplan_journal_dropped_total")
        self.decide(planner, engines)
        self.assertEqual(planner.metric("dynaplan_journal_dropped_total"), dropped, "nothing is dropped any more")
        self.assertEqual(planner.end(), 0)
        self.assertGreaterEqual(replay_each(PROGRAM, planner.journal), 2)

    def refused(self, *settings: str, **more) -> str:
        run = subprocess.run([PROGRAM, "serve", "--set", "mode=decode", "--set", "http.listen=127.0.0.1:0", "--set",
                              "bus.endpoints=[{\"url\": \"tcp://127.0.0.1:9\", \"role\": \"decode\"}]", "--set",
                              f"decisions.path={self.path}/decisions", *settings],
                             capture_output=True, text=True, timeout=BOUND_S, **more)
        self.assertEqual(run.returncode, 1, run.stderr)
        return run.stderr

    def test_a_journal_folder_without_permission_is_refused_at_the_start(self) -> None:
        journal = self.path / "journal"
        journal.write_text("no folder")
        self.assertRegex(self.refused("--set", f"journal.dir={journal}"), rf"journal\.dir: {journal}: .*(Not a directory|File exists)")
        closed = self.path / "closed"
        closed.mkdir()
        closed.chmod(0o555)
        who = {}
        if os.geteuid() == 0:  # whom no permission stops
            self.path.chmod(0o755)
            (self.path / "decisions").mkdir()
            (self.path / "decisions").chmod(0o777)
            who = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
            try:
                subprocess.run([PROGRAM, "--version"], check=True, capture_output=True, **who)
            except (OSError, subprocess.CalledProcessError):
                self.skipTest("another user may not run the program here")
        self.assertRegex(self.refused("--set", f"journal.dir={closed}/journal", **who),
                         rf"journal\.dir: {closed}/journal: .*Permission denied")
        self.assertRegex(self.refused("--set", f"journal.dir={closed}", **who), rf"journal\.dir: {closed}: .*Permission denied")

    def test_a_store_that_refuses_writes_holds_with_a_deadline_and_comes_back(self) -> None:
        engines = self.engines()
        planner = self.planner(engines)
        first = self.decide(planner, engines)
        limit_files(planner, 1)
        engines.breach()

        def held(state):
            return [hold for hold in state["holds"] if hold["reason"] == "store_unavailable"]
        state = planner.state_when("the hold is shown", held)
        self.assertEqual(state["store"]["state"], "unavailable")
        self.assertRegex(state["store"]["reason"], "decisions: File too large")
        self.assertIsNotNone(held(state)[0]["since"])
        self.assertIsNotNone(held(state)[0]["deadline"], "every hold has a deadline")
        self.assertGreaterEqual(planner.metric("dynaplan_proposals_refused_total"), 1)
        self.assertEqual(planner.call("GET", f"/v1/decisions/next?after={first}")[0], 204, "nothing is published unstored")
        limit_files(planner, resource.RLIM_INFINITY)
        code, decision = planner.call("GET", f"/v1/decisions/next?after={first}&wait=20s")
        self.assertEqual((code, decision["decision_id"]), (200, first + 1))
        planner.state_when("the store is there again", lambda s: s["store"]["state"] == "ok" and not held(s))
        engines.calm()
        self.assertEqual(planner.end(), 0)
        replay_each(PROGRAM, planner.journal)

    def test_a_store_that_nobody_needs_any_more_holds_nothing(self) -> None:
        engines = self.engines()
        planner = self.planner(engines)
        self.decide(planner, engines)
        limit_files(planner, 1)
        engines.breach()
        planner.state_when("the hold is shown", lambda s: "store_unavailable" in [h["reason"] for h in s["holds"]])
        engines.calm()
        state = planner.state_when("the hold ends with the breach",
                                   lambda s: "store_unavailable" not in [h["reason"] for h in s["holds"]])
        self.assertEqual(state["store"]["state"], "unavailable", "it still cannot be written")
        limit_files(planner, resource.RLIM_INFINITY)
        planner.state_when("the store is found to work again", lambda s: s["store"]["state"] == "ok")
        self.decide(planner, engines)

    def test_a_lock_that_was_deleted_is_taken_again(self) -> None:
        engines = self.engines()
        planner = self.planner(engines)
        first = self.decide(planner, engines)
        lock = self.path / "decisions" / "lock"
        lock.unlink()
        until("the lock is taken again", lambda: lock.exists() and lock.read_text().strip() == str(planner.pid))
        planner.state_when("the planner leads again", lambda s: s["leader"] and s["store"]["state"] == "ok")
        self.assertEqual(self.decide(planner, engines), first + 1)
        self.assertEqual(planner.end(), 0)
        replay_each(PROGRAM, planner.journal)

    def test_a_planner_whose_log_nobody_reads_any_more_goes_on(self) -> None:
        engines = self.engines()
        reading, writing = os.pipe()
        planner = self.enterContext(Process(serve_command(PROGRAM, self.path, engines.endpoints(), *SETTINGS), stderr=writing))
        os.close(writing)
        with os.fdopen(reading) as log:
            address = next(match[1] for line in log if (match := re.search(r"http://([0-9.]+:[0-9]+)", line)))
        engines.started()
        engines.breach()
        http = Http(address)
        self.addCleanup(http.hang_up)
        code, decision = http.call("GET", "/v1/decisions/next?after=-1&wait=20s")
        self.assertEqual(code, 200, "its log line found no reader, and that is all")
        self.assertEqual(http.call("POST", f"/v1/decisions/{decision['decision_id']}/complete")[0], 200)
        self.assertEqual(planner.end(), 0)


if __name__ == "__main__":
    case_runner.run()
