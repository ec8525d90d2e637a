#!/usr/bin/env python3
"""A journal folder as `dynaplan replay` reads it. Usage: folder_replay_test.py RECORD_FOLDER DYNAPLAN SOURCE_ROOT"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

RECORDER, PROGRAM, ROOT = sys.argv[1:4]
sys.path[:0] = [str(pathlib.Path(ROOT) / "tests" / "lint")]
sys.argv = sys.argv[:1]

import case_runner  # noqa: E402


def replay(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([PROGRAM, "replay", *arguments], capture_output=True, text=True, timeout=60, check=False)


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name) / "journal"
        said = subprocess.run([RECORDER, str(self.folder)], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(said.returncode, 0, said.stderr)
        self.dropped = int(said.stdout)

    def segments(self) -> list[pathlib.Path]:
        return sorted(self.folder.iterdir())

    def test_the_whole_folder_replays_to_the_same_effects(self) -> None:
        answer = replay(f"{self.folder}/*", "--json")
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
        self.assertGreater(json.loads(answer.stdout)["summary"]["effects_verified"], 100)
        self.assertGreater(len(self.segments()), 5)
        # The restart and what a full disk swallowed are told, and are no differences.
        self.assertIn("the state is taken from its checkpoint", answer.stderr + answer.stdout)
        gap = re.search(r"(\d+) events are not in the journal", answer.stderr + answer.stdout)
        self.assertIsNotNone(gap)
        self.assertLessEqual(int(gap[1]), self.dropped)
        self.assertGreater(int(gap[1]), 400)

    def test_each_segment_replays_alone(self) -> None:
        for segment in self.segments():
            answer = replay(str(segment))
            self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)

    def test_a_segment_that_is_cut_off_is_a_torn_tail_and_the_next_one_goes_on(self) -> None:
        second = self.segments()[1]
        second.write_bytes(second.read_bytes()[:-7])
        answer = replay(f"{self.folder}/*")
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
        self.assertIn("torn tail", answer.stderr + answer.stdout)


if __name__ == "__main__":
    case_runner.run()
