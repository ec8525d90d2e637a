"""tools/pure_tests.py picks the tests of the pure layers and the fuzz corpus, by folder and suite."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

import case_runner  # noqa: E402
from pure_tests import pure_tests  # noqa: E402

BUILD = pathlib.Path("/b")


def test(name: str, program: str, *suites: str) -> dict:
    return {"name": name, "cmd": [program], "suite": [f"dynaplan:{suite}" for suite in suites]}


class PureTestsTest(unittest.TestCase):
    def pick(self, *tests: dict) -> list[tuple[str, str]]:
        return pure_tests(list(tests), BUILD, {"core", "wire"})

    def test_unit_tests_of_pure_layers_are_picked(self):
        self.assertEqual(self.pick(test("core", "/b/tests/unit/core/core_test", "unit"),
                                   test("wire", "/b/tests/unit/wire/wire_test", "unit")),
                         [("core", "tests/unit/core/core_test"), ("wire", "tests/unit/wire/wire_test")])

    def test_the_fuzz_corpus_is_picked(self):
        self.assertEqual(self.pick(test("decode", "/b/tests/fuzz/decode_corpus", "fuzz")), [("decode", "tests/fuzz/decode_corpus")])

    def test_tests_that_take_minutes_are_left(self):
        self.assertEqual(self.pick(test("rounds", "/b/tests/fuzz/fuzz_test", "fuzz", "long"),
                                   test("core", "/b/tests/unit/core/core_test", "unit", "long")), [])

    def test_other_layers_suites_and_scripts_are_left(self):
        self.assertEqual(self.pick(test("app", "/b/tests/unit/app/app_test", "unit"),
                                   test("scenario", "/b/tests/scenario/wire/run", "scenario"),
                                   test("tidy", "/usr/bin/python3", "lint")), [])


if __name__ == "__main__":
    case_runner.run()
