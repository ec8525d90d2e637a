#!/usr/bin/env python3
"""Counts test cases over meson's testlog.json files and prints "N passed, N failed[, N skipped]" last.

meson counts executables, but one of ours holds many cases. So each test's own closing line is read: doctest's
"[doctest] test cases: N | N passed | N failed | N skipped", or the "N passed, M failed" that our check programs
print. A test without such a line counts as one case. A test that ended badly though its lines report no failure
(it crashed, timed out, or tripped a sanitizer) adds one failed case.

Exit code: 0 when at least one case ran and none failed, else 1.
"""

import argparse
import json
import re
import sys
from dataclasses import dataclass

DOCTEST = re.compile(r"\[doctest\] test cases:\s*(\d+)\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed\s*\|\s*(\d+) skipped")
OWN = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\s*$", re.MULTILINE)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")

# meson's results that are no failure. EXPECTEDFAIL is a test marked should_fail that did fail.
GOOD = {"OK", "EXPECTEDFAIL"}


@dataclass(frozen=True)
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def line(self) -> str:
        text = f"{self.passed} passed, {self.failed} failed"
        return text + (f", {self.skipped} skipped" if self.skipped else "")

    def exit_code(self) -> int:
        return 1 if self.failed or self.passed + self.failed == 0 else 0


def cases_in(stdout: str) -> Counts | None:
    """What the closing lines in a test's output say; None when there is none."""
    text = COLOUR.sub("", stdout)
    doctest = DOCTEST.findall(text)
    if doctest:
        return Counts(*(sum(int(row[column]) for row in doctest) for column in (1, 2, 3)))
    own = OWN.findall(text)
    if own:
        passed, failed, skipped = own[-1]  # the closing line, not one that a sub-step printed before
        return Counts(int(passed), int(failed), int(skipped or 0))
    return None


def count_test(record: dict) -> Counts:
    """The cases of one line of testlog.json."""
    result = record.get("result", "")
    cases = cases_in(record.get("stdout") or "")
    if result == "SKIP":
        return cases if cases and cases.skipped else (cases or Counts()) + Counts(skipped=1)
    if result in GOOD:
        return cases if cases is not None else Counts(passed=1)
    if cases is not None and cases.failed and result == "FAIL":
        return cases
    return (cases or Counts()) + Counts(failed=1)


def count_log(path: str) -> tuple[Counts, list[str]]:
    """Counts one file; a file that cannot be read, and a line that is no record, are failures with a message."""
    total, messages = Counts(), []
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.readlines()
    except OSError as error:
        return Counts(failed=1), [f"{path}: no test log ({error.strerror})"]
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            counts = count_test(record)
        except (ValueError, AttributeError, TypeError):
            total += Counts(failed=1)
            messages.append(f"{path}:{number}: not a record of a test")
            continue
        total += counts
        if counts.failed:
            messages.append(f"failed: {record.get('name', '?')} ({record.get('result', '?')}, {counts.line()})")
    return total, messages


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Counts test cases over meson's testlog.json files.")
    parser.add_argument("logs", nargs="*", metavar="TESTLOG.JSON")
    parser.add_argument("--failure", action="append", default=[], metavar="TEXT",
                        help="something that failed outside a test, such as the build: one failed case each")
    options = parser.parse_args(arguments)
    total = Counts()
    for path in options.logs:
        counts, messages = count_log(path)
        total += counts
        for message in messages:
            print(message)
    for text in options.failure:
        total += Counts(failed=1)
        print(f"failed: {text}")
    print(total.line())
    return total.exit_code()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
