"""tools/summarise_tests.py counts cases as spec says: doctest's closing line, our own, or one case a test."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

import case_runner  # noqa: E402
import summarise_tests as summarise  # noqa: E402
from summarise_tests import Counts  # noqa: E402

DOCTEST = """[doctest] doctest version is "2.4.9"
===============================================================================
[doctest] test cases:  12 |  10 passed |  2 failed | 3 skipped
[doctest] assertions: 300 | 298 passed |  2 failed |
[doctest] Status: FAILURE!
"""


def record(result: str, stdout: str = "", name: str = "core") -> dict:
    return {"name": name, "stdout": stdout, "result": result, "returncode": 0}


class CountTest(unittest.TestCase):
    def test_doctest_line_is_read(self):
        self.assertEqual(summarise.count_test(record("FAIL", DOCTEST)), Counts(10, 2, 3))

    def test_doctest_line_is_read_in_colour(self):
        line = "\x1b[0;36m[doctest] \x1b[0mtest cases: \x1b[0;32m4\x1b[0m | \x1b[0;32m4 passed\x1b[0m | 0 failed | 0 skipped"
        self.assertEqual(summarise.count_test(record("OK", line)), Counts(4, 0, 0))

    def test_two_doctest_runs_in_one_test_are_added(self):
        line = "[doctest] test cases: 4 | 3 passed | 0 failed | 1 skipped\n"
        self.assertEqual(summarise.count_test(record("OK", line + line)), Counts(6, 0, 2))

    def test_own_closing_line_is_read_and_the_last_one_counts(self):
        text = "models: 3 passed, 0 failed\n5 passed, 0 failed\nall kinds\n9 passed, 0 failed, 2 skipped\n"
        self.assertEqual(summarise.count_test(record("OK", text)), Counts(9, 0, 2))

    def test_a_sentence_is_not_a_closing_line(self):
        self.assertEqual(summarise.count_test(record("OK", "of these 7 passed, 0 failed so far")), Counts(1, 0, 0))

    def test_a_test_without_a_line_is_one_case(self):
        self.assertEqual(summarise.count_test(record("OK", "fine")), Counts(1, 0, 0))
        self.assertEqual(summarise.count_test(record("EXPECTEDFAIL")), Counts(1, 0, 0))
        self.assertEqual(summarise.count_test(record("FAIL", "not fine")), Counts(0, 1, 0))
        self.assertEqual(summarise.count_test(record("UNEXPECTEDPASS")), Counts(0, 1, 0))

    def test_a_skipped_test_is_one_skipped_case(self):
        self.assertEqual(summarise.count_test(record("SKIP", "no data here")), Counts(0, 0, 1))
        self.assertEqual(summarise.count_test(record("SKIP", "2 passed, 0 failed, 4 skipped\n")), Counts(2, 0, 4))

    def test_a_crash_is_a_failed_case(self):
        for result in ("ERROR", "TIMEOUT", "INTERRUPT", "FAIL", "something new"):
            with self.subTest(result=result):
                self.assertEqual(summarise.count_test(record(result, "started ...")), Counts(0, 1, 0))

    def test_a_crash_after_a_clean_closing_line_is_still_a_failed_case(self):
        clean = "[doctest] test cases: 4 | 4 passed | 0 failed | 0 skipped\n"
        self.assertEqual(summarise.count_test(record("FAIL", clean)), Counts(4, 1, 0))
        self.assertEqual(summarise.count_test(record("TIMEOUT", DOCTEST)), Counts(10, 3, 3))

    def test_failed_cases_count_even_when_the_exit_code_hid_them(self):
        self.assertEqual(summarise.count_test(record("OK", "3 passed, 1 failed\n")), Counts(3, 1, 0))

    def test_a_record_without_stdout_is_one_case(self):
        self.assertEqual(summarise.count_test({"name": "x", "result": "OK", "stdout": None}), Counts(1, 0, 0))
        self.assertEqual(summarise.count_test({}), Counts(0, 1, 0))


class SummaryTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def log(self, name: str, *lines: str) -> str:
        path = pathlib.Path(self.folder.name) / name
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return str(path)

    def run_main(self, *arguments: str) -> tuple[int, list[str]]:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = summarise.main(list(arguments))
        return code, out.getvalue().splitlines()

    def test_logs_are_added(self):
        one = self.log("one.json", json.dumps(record("OK", "5 passed, 0 failed\n")), json.dumps(record("OK")))
        two = self.log("two.json", json.dumps(record("SKIP")), "")
        self.assertEqual(self.run_main(one, two), (0, ["6 passed, 0 failed, 1 skipped"]))

    def test_skipped_is_named_only_when_some_were(self):
        self.assertEqual(self.run_main(self.log("one.json", json.dumps(record("OK")))), (0, ["1 passed, 0 failed"]))

    def test_a_failed_test_is_named_and_fails_the_run(self):
        code, lines = self.run_main(self.log("one.json", json.dumps(record("OK")), json.dumps(record("FAIL", name="wire"))))
        self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed"))
        self.assertIn("wire", lines[0])

    def test_no_case_at_all_fails_the_run(self):
        self.assertEqual(self.run_main(self.log("one.json"))[0], 1)
        self.assertEqual(self.run_main(), (1, ["0 passed, 0 failed"]))

    def test_only_skipped_cases_fail_the_run(self):
        self.assertEqual(self.run_main(self.log("one.json", json.dumps(record("SKIP")))), (1, ["0 passed, 0 failed, 1 skipped"]))

    def test_a_missing_or_damaged_log_is_a_failure(self):
        good = json.dumps(record("OK"))
        code, lines = self.run_main(self.log("one.json", good, "{\"name\": ", "[1]"), "absent.json")
        self.assertEqual((code, lines[-1]), (1, "1 passed, 3 failed"))

    def test_a_failed_build_is_a_failure(self):
        code, lines = self.run_main("--failure", "the build failed")
        self.assertEqual((code, lines), (1, ["failed: the build failed", "0 passed, 1 failed"]))


if __name__ == "__main__":
    case_runner.run()
