"""Runs a module's unittest cases and closes with the line that tools/summarise_tests.py counts."""

import sys
import unittest


def run() -> None:
    result = unittest.main(module="__main__", exit=False, verbosity=1).result
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    skipped = len(result.skipped)
    passed = result.testsRun - failed - skipped
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    sys.exit(1 if failed or not passed else 0)
