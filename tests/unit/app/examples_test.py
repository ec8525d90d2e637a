#!/usr/bin/env python3
"""The schedulers under examples/ at work with a real planner. Usage: examples_test.py DYNAPLAN MAKE_RECORDING SOURCE_ROOT"""

import os
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[3])
sys.path[:0] = [str(ROOT / "tests" / "lint"), str(pathlib.Path(__file__).parent)]

import case_runner  # noqa: E402
from live_programs import LiveCase, Program  # noqa: E402

LiveCase.dynaplan, LiveCase.recorder = sys.argv[1:3]
sys.argv = sys.argv[:1]


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


if __name__ == "__main__":
    case_runner.run()
