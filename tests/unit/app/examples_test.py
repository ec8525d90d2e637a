#!/usr/bin/env python3
"""The schedulers under examples/ at work with a real planner. Usage: examples_test.py DYNAPLAN MAKE_RECORDING SOURCE_ROOT"""

import os
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[3])
sys.path[:0] = [str(ROOT / "tests" / part) for part in ("lint", "unit/app", "live")]

import case_runner  # noqa: E402
from dynamo_records import card, card_key  # noqa: E402
from live_programs import LiveCase, Planner, Program, until  # noqa: E402
from live_servers import Etcd, Nats, need  # noqa: E402

LiveCase.dynaplan, LiveCase.recorder = sys.argv[1:3]
sys.argv = sys.argv[:1]


class ConfiguredPlanner(Planner):
    """`serve` with a file, as the page shows it, but on a free port."""

    def __init__(self, dynaplan: str, config: pathlib.Path, folder: pathlib.Path, env: dict):
        Program.__init__(self, dynaplan, "serve", "--config", config, "--set", "http.listen=127.0.0.1:0", "--set",
                         f"journal.dir={folder}/journal", env=env)
        self.url = self.err.until(r"(http://[0-9.]+:[0-9]+)")


class Examples(LiveCase):
    def test_the_shell_scheduler_as_its_page_shows_it(self) -> None:
        folder = ROOT / "examples" / "shell-scheduler"
        shown = re.search(r"^ +(dynaplan decisions .*)$", (folder / "README.md").read_text(), re.MULTILINE)[1]
        planner = self.planner()
        path = f"{pathlib.Path(self.dynaplan).resolve().parent}:{os.environ['PATH']}"
        self.start(Program("sh", "-c", f'cd "{folder}" && exec {shown}',
                           env={"PATH": path, "PLANNER_URL": planner.url, "FLEET": f"{self.folder}/fleet"}))
        self.assertEqual(planner.settled(0), "acknowledged")
        self.assertEqual((self.folder / "fleet" / "decode").read_text(), f"{planner.decision(0)['decode']}\n")
        self.assertFalse((self.folder / "fleet" / "prefill").exists())

    def test_the_python_scheduler(self) -> None:
        program = ROOT / "examples" / "python-scheduler" / "scheduler.py"
        planner = self.planner()
        decision = planner.decision(0)
        scheduler = self.start(Program(sys.executable, program, planner.url))
        self.assertEqual(planner.settled(0), "acknowledged")
        self.assertEqual(scheduler.out.line(0), f"0 acknowledged {{'decode': {decision['decode']}}}")
        inventory = planner.call("GET", "/v1/state")[1]["inventory"]["decode"]
        self.assertEqual((inventory["ready"], inventory["expected"]), (decision["decode"],) * 2)
        self.assertLessEqual(len(program.read_text().splitlines()), 45)

    def test_with_nats_and_etcd(self) -> None:
        need("nats-server", "etcd")
        nats, etcd = Nats(), Etcd(self.folder)
        for server in (nats, etcd):
            self.addCleanup(server.stop)
            server.start()
        env = {"NATS_SERVER": nats.url, "ETCD_ENDPOINTS": etcd.url, "DYN_NAMESPACE": "dynamo"}
        for worker in self.workers():
            etcd.put(card_key(worker), card(worker))
        config = ROOT / "examples" / "nats-and-etcd" / "planner.yaml"
        planner = self.start(ConfiguredPlanner(self.dynaplan, config, self.folder, env))
        until(lambda: planner.metric("dynaplan_bus_connected") == 1, "the bus connected")
        self.start(Program(self.dynaplan, "publish", self.recording, "--bus", "nats", "--speed", "20", env=env))
        decision = planner.decision(0)
        self.assertEqual(etcd.get("v1/dynamo/planner/num_decode_workers"), str(decision["decode"]))
        self.assertEqual(planner.stop(), 0)


if __name__ == "__main__":
    case_runner.run()
