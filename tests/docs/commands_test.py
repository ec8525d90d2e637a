"""Every command that README.md and the task pages show is run as it stands, in a folder with the files it names."""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DYNAPLAN = os.environ["DYNAPLAN"]
MAKE_RECORDING = os.environ["MAKE_RECORDING"]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMAND = re.compile(r"^\s+(?:\$ )?((?:build/src/app/)?dynaplan\s.*)$")


def shown_commands():
    for page in PAGES:
        for number, line in enumerate(page.read_text().splitlines(), 1):
            match = COMMAND.match(line)
            if match:
                yield f"{page.relative_to(ROOT)}:{number}", match[1].split(" #")[0].strip()


class ShownCommands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.scratch.name)
        record = [MAKE_RECORDING, "--shape", "ramp", "--mode", "disagg", "--engines", "2", "--minutes", "5", "--seed", "1"]
        for name in ("fpm-trace.jsonl.gz", "fpm-trace.jsonl"):
            subprocess.run([*record, "--out", str(folder / name)], check=True, capture_output=True)
        (folder / "planner.yaml").write_text(sample_configuration())
        cls.run_in(folder, [DYNAPLAN, "replay", "fpm-trace.jsonl.gz", "--journal", "run.journal"])

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @staticmethod
    def run_in(folder, words, text=""):
        return subprocess.run(words, cwd=folder, input=text, capture_output=True, text=True, timeout=120)

    def test_there_are_commands(self):
        self.assertGreater(len(list(shown_commands())), 4)

    def test_each_runs(self):
        for place, command in shown_commands():
            with self.subTest(place=place, command=command):
                words = shlex.split(command.split(" < ")[0].split(" > ")[0].split(" | ")[0])
                done = self.run_in(self.scratch.name, [DYNAPLAN, *words[1:]], step_lines())
                self.assertEqual(done.returncode, 0, f"{place}: {command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")


def sample_configuration():
    """The first YAML block of README.md: what it shows has to load."""
    block = re.search(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    return block[1] if block else "mode: disagg\nprefill_engine_num_gpu: 1\ndecode_engine_num_gpu: 1\n"


def step_lines():
    return '{"t":0,"event":"inventory","role":"decode","ready":1,"expected":1,"rolling":false}\n{"t":5,"event":"tick"}\n'


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "lint"))
    import case_runner

    case_runner.run()
