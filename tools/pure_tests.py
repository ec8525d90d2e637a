#!/usr/bin/env python3
"""Lists the tests of src/pure in a configured build folder: one line each, test name, tab, ninja target.

These are the unit tests of the layers under src/pure and the fuzz corpus, without the suite long; tools/test builds
only them in the sanitizer build, so that it costs one compilation of src/pure and of the configuration's parser,
which is fuzzed too, and nothing of the rest.
"""

import json
import pathlib
import subprocess
import sys


def pure_tests(tests: list[dict], build: pathlib.Path, layers: set[str]) -> list[tuple[str, str]]:
    """Picks (test name, ninja target) out of what `meson introspect --tests` says."""
    chosen = []
    for test in tests:
        suites = {suite.rsplit(":", 1)[-1] for suite in test["suite"]}
        try:
            target = pathlib.Path(test["cmd"][0]).relative_to(build)
        except ValueError:
            continue  # a script, not one of our binaries
        of_a_layer = "unit" in suites and target.parent.name in layers
        if "long" not in suites and (of_a_layer or "fuzz" in suites):
            chosen.append((test["name"], target.as_posix()))
    return chosen


def main() -> int:
    build = pathlib.Path(sys.argv[1]).resolve()
    root = pathlib.Path(__file__).resolve().parent.parent
    layers = {path.name for path in (root / "src" / "pure").iterdir() if path.is_dir()}
    answer = subprocess.run(["meson", "introspect", "--tests", str(build)], check=True, capture_output=True, text=True)
    for name, target in pure_tests(json.loads(answer.stdout), build, layers):
        print(f"{name}\t{target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
