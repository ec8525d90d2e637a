"""clang-format and clang-tidy over our sources: prints "file:line: what" for each breach.

usage: clang_checks.py format|tidy SOURCE_FOLDER BUILD_FOLDER

Layouts differ between versions of clang-format, so only version 14 (Debian 12's) judges; elsewhere the check is
skipped (exit code 77), which under CI=true is a failure.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

VERSION = 14
SKIPPED = 77


def skip(message: str) -> int:
    print(message)
    return 1 if os.environ.get("CI") == "true" else SKIPPED


def sources(root: pathlib.Path, folders: tuple[str, ...], suffixes: tuple[str, ...]) -> list[pathlib.Path]:
    return sorted(path for folder in folders for path in (root / folder).rglob("*") if path.suffix in suffixes)


FINDING = re.compile(r"^(\S+?:\d+):\d+: (?:warning|error): (.*)$", re.MULTILINE)


def findings(path: pathlib.Path, root: pathlib.Path, output: str) -> list[str]:
    """The compiler-like lines of a tool's output, one a line of source, with paths from the root."""
    found = dict(reversed(FINDING.findall(output)))  # of several on one line the first stays
    # clang-tidy names files from the build folder, clang-format from the root of the file system.
    lines = [f"{place.removeprefix(f'{root}/').removeprefix('../')}: {text}" for place, text in reversed(found.items())]
    return lines or [f"{path.relative_to(root)}: {output.strip() or 'the tool failed without a word'}"]


def run_over(files: list[pathlib.Path], command: list[str], root: pathlib.Path, shown: int) -> int:
    """Runs the command once a file and shows the first findings of each."""

    def check(path: pathlib.Path) -> subprocess.CompletedProcess:
        return subprocess.run([*command, str(path)], capture_output=True, text=True, cwd=root, check=False)

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, answer in zip(files, pool.map(check, files)):
            if answer.returncode != 0:
                failed += 1
                print(*findings(path, root, answer.stdout + answer.stderr)[:shown], sep="\n")
    print(f"{len(files)} files, {failed} with findings")
    return 1 if failed or not files else 0


def main(kind: str, root: pathlib.Path, build: pathlib.Path) -> int:
    program = f"clang-{kind}"
    if not shutil.which(program):
        return skip(f"{program} is not installed: run ./tools/setup")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    if not re.search(rf"version {VERSION}\.", version):
        return skip(f"{program} {VERSION} judges, this is {version.strip().splitlines()[:1]}")
    if kind == "format":
        return run_over(sources(root, ("src", "tests"), (".cpp", ".hpp")), [program, "--dry-run", "-Werror"], root, shown=1)
    # clang reads the commands written for another compiler: it may not know its warnings.
    command = [program, "--quiet", f"-p={build}", "--extra-arg=-Wno-unknown-warning-option"]
    return run_over(sources(root, ("src/pure",), (".cpp",)), command, root, shown=20)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()))
