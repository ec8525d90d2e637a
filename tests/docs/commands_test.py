"""Every command that README.md and the task pages show is run as it stands, in a folder with the files it names."""

import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
DYNAPLAN = os.environ["DYNAPLAN"]
MAKE_RECORDING = os.environ["MAKE_RECORDING"]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMAND = re.compile(r"^\s+(?:\$ )?((?:build/src/app/)?dynaplan\s.*)$")
CURL = re.compile(r"^\s+(curl\s.*)$")
# These go on until they are told to stop, which is no failure; what they print when they have begun. Here nobody answers the watch;
# tests/unit/app/examples_test.py runs it with a planner.
LIVE = {"serve": r"(http://[0-9.]+:[0-9]+)", "record": r"(recording)", "decisions": r"(http://)"}


def shown_commands(pattern=COMMAND):
    for page in PAGES:
        for number, line in enumerate(page.read_text().splitlines(), 1):
            match = pattern.match(line)
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
                if words[1] in LIVE:
                    self.live(words[1:], lambda _: None)
                    continue
                words = [name for word in words for name in self.expanded(word)]
                done = self.run_in(self.scratch.name, [DYNAPLAN, *words[1:]], step_lines())
                self.assertEqual(done.returncode, 0, f"{place}: {command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")

    def test_each_configuration_loads(self):
        for page in PAGES:
            for number, block in enumerate(re.findall(r"```yaml\n(.*?)```", page.read_text(), re.S)):
                with self.subTest(page=page.name, block=number):
                    path = pathlib.Path(self.scratch.name) / "shown.yaml"
                    path.write_text(block)
                    done = self.run_in(self.scratch.name, [DYNAPLAN, "config", "check", str(path)])
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def expanded(self, word):
        """As a shell does with FOLDER/*."""
        found = sorted(pathlib.Path(self.scratch.name).glob(word)) if "*" in word else []
        return [str(path) for path in found] or [word]

    def live(self, words, then):
        """Starts it on a free port, does `then` with what it printed first, and asks it to stop: that is no failure."""
        port = ["--set", "http.listen=127.0.0.1:0"] if words[0] == "serve" else []
        program = subprocess.Popen([DYNAPLAN, *words, *port], cwd=self.scratch.name, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   text=True)
        try:
            said = ""
            while not (begun := re.search(LIVE[words[0]], said)):
                line = program.stderr.readline()
                self.assertNotEqual(line, "", f"{words} ended too early: {said}")
                said += line
            then(begun[1])
            program.send_signal(signal.SIGTERM)
            program.stderr.read()
            self.assertEqual(program.wait(timeout=60), 0, words)
        finally:
            program.kill()
            program.wait()
            program.stderr.close()

    def test_each_call_of_the_api_reaches_a_route(self):
        def call_all(url):
            for place, command in shown_commands(CURL):
                words = shlex.split(command)
                method = words[words.index("-X") + 1] if "-X" in words else "GET"
                body = words[words.index("-d") + 1].encode() if "-d" in words else None
                address = next(word for word in words if word.startswith("http"))
                path = re.sub(r"wait=\d+s", "wait=0s", re.sub(r"^http://[^/]*", url, address))
                with self.subTest(place=place, command=command):
                    try:
                        with urllib.request.urlopen(urllib.request.Request(path, data=body, method=method), timeout=60) as answer:
                            self.assertLess(answer.status, 300)
                    except urllib.error.HTTPError as error:
                        # Decision 0 has never been published here; anything else would be a fault of the page.
                        self.assertEqual((error.code, "/decisions/0/" in path), (409, True), error.read())

        self.assertGreater(len(list(shown_commands(CURL))), 2)
        self.live(["serve", "--config", "planner.yaml", "--set", "decisions.path=other", "--set", "journal.dir=other-journal"], call_all)


def sample_configuration():
    """The first YAML block of docs/operating.md: what it shows has to load, and to serve."""
    return re.search(r"```yaml\n(.*?)```", (ROOT / "docs" / "operating.md").read_text(), re.S)[1]


def step_lines():
    return '{"t":0,"event":"inventory","role":"decode","ready":1,"expected":1,"rolling":false}\n{"t":5,"event":"tick"}\n'


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "lint"))
    import case_runner

    case_runner.run()
