#!/usr/bin/env python3
"""House rules that neither the compiler nor the linker sees. Prints "file:line: rule: message" for each breach.

usage: tools/tidy.py [ROOT]      exit code 1 when a rule is broken; files over 400 lines are only noted

Each rule is one function that yields findings; tests/lint/tidy_test.py breaks each of them on purpose. Patterns
that would match this file itself are written with a one-letter class, such as TOD[O].
"""

import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

# Which layers a layer's files may include: the arrows of docs/ARCHITECTURE.md, itself added.
PURE = {
    "core": set(),
    "wire": {"core"},
    "model": {"core"},
    "forecast": {"core"},
    "profile": {"core"},
    "decision": {"core"},
    "sim": {"core"},
    "plan": {"model", "forecast", "profile", "core"},
    "replay": {"plan", "decision", "wire", "core"},
}
_ADAPTER = {"port", "net", "core", "wire"}
EDGE = {
    "port": {"core", "wire", "decision"},
    "net": {"port", "core", "wire"},
    "runtime": _ADAPTER | {"plan", "decision"},
    "bus": _ADAPTER,
    "discovery": _ADAPTER,
    "traffic": _ADAPTER,
    "connector": _ADAPTER,
    "observe": _ADAPTER,
}
MAY_USE = {name: uses | {name} for name, uses in {**PURE, **EDGE}.items()}
MAY_USE["app"] = set(MAY_USE) | {"app"}

# Pure code has no clock, no I/O, no threads, no log, no randomness, and nothing that depends on the locale.
BANNED_INCLUDES = re.compile(
    r"#\s*include\s*<(boost/|zmq|nats|prometheus/|spdlog/|CLI/|thread|mutex|shared_mutex|condition_variable|future|stop_token|"
    r"coroutine|iostream|fstream|filesystem|random|locale|ctime|unistd\.h|sys/)")
BANNED_CALLS = re.compile(
    r"::now\(|\bgetenv\b|(?<![\w.>])(?:std::)?(?:s?rand|time|clock)\(|\b(?:f?printf|puts|fputs|fopen|fwrite|gzopen)\(|"
    r"\bstd::(?:cout|cerr|clog)\b|\b(?:stod|stof|strtod|strtof|atof|setlocale)\(")
# core/assert.hpp is the one place that writes to stderr: a broken invariant names its place before it ends the process.
MAY_CALL = {"src/pure/core/assert.hpp"}
# Slow to compile, and an implementation detail: these stay in few .cpp files, and in headers that only .cpp files of
# their own folder include.
SLOW_LIBRARY = re.compile(r"#\s*include\s*<(nlohmann/|simdjson|yaml-cpp/|msgpack|CLI/|boost/beast)")
UNSTEADY_FLAGS = re.compile(r"-ffast-math|-march=native|-Ofast|-funsafe-math")

LEFT_OVER = re.compile(r"\b(?:TOD[O]|FIXM[E]|XX[X])\b")
MACHINE_PATH = re.compile(r"/(?:wor[k]|roo[t]|far[m])/")
# A host of a package registry or mirror belongs into the machine's settings. The public npm registry is allowed in
# lock files, which name it in each entry.
REGISTRY = re.compile(r"https?://[^\s/\"'<>)]*(?:mirro[r]|registr[y]|artifactor[y]|nexu[s]|pyp[i])[^\s/\"'<>)]*")

LINES_MAX = 500
LINES_NOTED = 400


@dataclass(frozen=True, order=True)
class Finding:
    path: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"


@dataclass
class SourceFile:
    path: str  # relative to the root, with forward slashes
    text: str
    parts: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.parts = pathlib.PurePosixPath(self.path).parts

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @cached_property
    def code(self) -> list[str]:
        """The lines with comments and literals blanked, so that prose about a clock is not a clock."""
        pattern = r'//[^\n]*|/\*.*?\*/|R"([^(\n]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])*\''
        return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m[0]), self.text, flags=re.DOTALL).split("\n")

    @property
    def is_cpp(self) -> bool:
        return self.path.endswith((".cpp", ".hpp"))

    @property
    def is_header(self) -> bool:
        return self.path.endswith(".hpp")

    @property
    def in_pure(self) -> bool:
        return self.parts[:2] == ("src", "pure")

    @property
    def layer(self) -> str | None:
        """The layer whose include rules hold for this file: by its folder, or by the layer that it tests."""
        if self.parts[0] == "src" and len(self.parts) > 2:
            return "app" if self.parts[1] == "app" else self.parts[2] if len(self.parts) > 3 else None
        if self.parts[:2] == ("tests", "unit") and len(self.parts) > 3:
            return self.parts[2]
        return None


class Tree:
    def __init__(self, root: pathlib.Path):
        self.root = root
        self.files = [file for path in sorted(repository_files(root)) if (file := read(root, path)) is not None]
        self.by_path = {file.path: file for file in self.files}
        self.cpp = [f for f in self.files if f.is_cpp and f.parts[0] in ("src", "tests")]

    def resolve(self, include: str) -> str | None:
        """The file of ours that an include names, as the include roots of the build would find it."""
        return next((p for root in ("src/pure", "src/edge", "src", "tests") if (p := f"{root}/{include}") in self.by_path), None)


def repository_files(root: pathlib.Path) -> list[str]:
    """What git knows or would add; without git, everything outside build folders."""
    if (root / ".git").exists():
        answer = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"],
                                capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            return answer.stdout.splitlines()
    paths = []
    for folder, names, files in os.walk(root):
        names[:] = [n for n in names if n not in (".git", "node_modules", "__pycache__") and not n.startswith("build")]
        paths += [(pathlib.Path(folder) / name).relative_to(root).as_posix() for name in files]
    return paths


def read(root: pathlib.Path, path: str) -> SourceFile | None:
    """None for what is gone, binary, or too large to have been written by hand."""
    try:
        data = (root / path).read_bytes()
    except OSError:
        return None
    if len(data) > 4_000_000 or b"\0" in data[:8192]:
        return None
    return SourceFile(path, data.decode("utf-8", errors="replace"))


def includes(file: SourceFile) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(file.lines, 1):
        if match := re.match(r'\s*#\s*include\s*"([^"]+)"', line):
            yield number, match[1]


def layer_arrows(tree: Tree) -> Iterator[Finding]:
    for file in tree.cpp:
        layer = file.layer
        if layer is None:
            continue
        if layer not in MAY_USE:
            if file.parts[0] == "src":
                yield Finding(file.path, 1, "layers", f"unknown layer '{layer}': give it its arrows in tools/tidy.py")
            continue
        for number, include in includes(file):
            first, slash, _ = include.partition("/")
            if not slash and file.parts[0] == "src":
                yield Finding(file.path, number, "layers", f'include it with its folder: "{layer}/{include}"')
            elif slash and first in MAY_USE and first not in MAY_USE[layer]:
                yield Finding(file.path, number, "layers", f"{layer} may not use {first}")


def layer_links(tree: Tree) -> Iterator[Finding]:
    """A layer's meson.build names only the layers below it."""
    for file in tree.files:
        if file.parts[-1] != "meson.build" or file.parts[0] != "src" or len(file.parts) != 4:
            continue
        layer = file.parts[2]
        for number, line in enumerate(file.lines, 1):
            for used in re.findall(r"\b(\w+)_dep\b(?!\s*=)", line.partition("#")[0]):
                if used in MAY_USE and layer in MAY_USE and used not in MAY_USE[layer]:
                    yield Finding(file.path, number, "layers", f"{layer} may not link {used}")


def purity(tree: Tree) -> Iterator[Finding]:
    for file in tree.cpp:
        if not file.in_pure:
            continue
        for number, (line, code) in enumerate(zip(file.lines, file.code), 1):
            bad = BANNED_INCLUDES.search(line) or (file.path not in MAY_CALL and BANNED_CALLS.search(code))
            if bad:
                yield Finding(file.path, number, "pure", f"not in pure code: {line.strip()}")


def headers(tree: Tree) -> Iterator[Finding]:
    users: dict[str, list[SourceFile]] = {}
    for file in tree.cpp:
        for _, name in includes(file):
            if path := tree.resolve(name):
                users.setdefault(path, []).append(file)
    for file in tree.cpp:
        if not file.is_header:
            continue
        if not any(re.match(r"\s*#\s*pragma once\b", code) for code in file.code):
            yield Finding(file.path, 1, "headers", "#pragma once is missing")
        for number, (line, code) in enumerate(zip(file.lines, file.code), 1):
            if re.search(r"\busing\s+namespace\b", code):
                yield Finding(file.path, number, "headers", "no using namespace in a header")
            if file.parts[0] == "src" and SLOW_LIBRARY.search(line):
                for user in users.get(file.path, []):
                    if user.is_header or user.parts[:-1] != file.parts[:-1]:
                        yield Finding(file.path, number, "headers", f"{user.path} gets {line.strip()} from here: keep it in .cpp files")


def no_circles(tree: Tree) -> Iterator[Finding]:
    graph = {file.path: [path for _, name in includes(file) if (path := tree.resolve(name))]
             for file in tree.cpp if file.is_header}
    done: set[str] = set()

    def visit(path: str, trail: list[str]) -> Iterator[Finding]:
        if path in trail:
            circle = trail[trail.index(path):] + [path]
            yield Finding(path, 1, "circles", "headers include each other: " + " -> ".join(circle))
        elif path not in done:
            for target in graph.get(path, []):
                yield from visit(target, trail + [path])
            done.add(path)

    for path in graph:
        yield from visit(path, [])


def is_program(file: SourceFile) -> bool:
    return file.is_cpp or file.path.endswith(".py") or file.parts[0] == "tools"


def file_length(tree: Tree) -> Iterator[Finding]:
    for file in tree.files:
        if is_program(file) and len(file.lines) > LINES_MAX:
            yield Finding(file.path, len(file.lines), "length",
                          f"{len(file.lines)} lines, {LINES_MAX} at most: look for the second idea")


def long_files(tree: Tree) -> Iterator[str]:
    for file in tree.files:
        if is_program(file) and LINES_NOTED < len(file.lines) <= LINES_MAX:
            yield f"note: {file.path} has {len(file.lines)} lines (aim: {LINES_NOTED})"


def words(tree: Tree) -> Iterator[Finding]:
    for file in tree.files:
        golden = file.parts[:2] == ("tests", "vectors")  # handed to us, compared as they are
        lock = file.parts[-1] == "package-lock.json"
        for number, line in enumerate(file.lines, 1):
            if MACHINE_PATH.search(line):
                yield Finding(file.path, number, "words", "names a path of one machine")
            if not golden and LEFT_OVER.search(line):
                yield Finding(file.path, number, "words", "a left-over mark: do it, or write an issue")
            if (match := REGISTRY.search(line)) and not (lock and match[0].endswith("//registry.npmjs.org")):
                yield Finding(file.path, number, "words", f"names a package registry or mirror: {match[0]}")


def steady_flags(tree: Tree) -> Iterator[Finding]:
    for file in tree.files:
        if file.parts[-1] in ("meson.build", "meson_options.txt"):
            for number, line in enumerate(file.lines, 1):
                if UNSTEADY_FLAGS.search(line.partition("#")[0]):
                    yield Finding(file.path, number, "flags", "decisions must not depend on the machine or the optimiser")


def documents(tree: Tree) -> Iterator[Finding]:
    """docs/ARCHITECTURE.md has a row for each layer; ADRs are numbered 0001, 0002, ... without a gap."""
    page = "docs/ARCHITECTURE.md"
    table = set(re.findall(r"^\|\s*`?([\w/]+)`?\s*\|", tree.by_path[page].text, re.MULTILINE)) if page in tree.by_path else set()
    folders = {f.parts[1:3] if f.parts[1] in ("pure", "edge") else f.parts[1:2] for f in tree.cpp if f.parts[0] == "src" and len(f.parts) > 2}
    for folder in sorted(folders):
        if len(folder) == 2 and folder[1].endswith((".cpp", ".hpp")):
            continue
        if folder[-1] not in table:
            yield Finding(page, 1, "documents", f"no row for the layer {'/'.join(folder)}")
    numbers: dict[int, str] = {}
    for file in tree.files:
        if file.parts[:2] != ("docs", "adr"):
            continue
        match = re.fullmatch(r"(\d{4})-[a-z0-9-]+\.md", file.parts[-1])
        if not match:
            yield Finding(file.path, 1, "documents", "an ADR is called NNNN-title.md")
        elif int(match[1]) in numbers:
            yield Finding(file.path, 1, "documents", f"the number of {numbers[int(match[1])]}")
        else:
            numbers[int(match[1])] = file.path
    for expected, number in enumerate(sorted(numbers), 1):
        if number != expected:
            yield Finding(numbers[number], 1, "documents", f"ADR {expected:04} is missing")
            break


def set_up(tree: Tree) -> Iterator[Finding]:
    """Every dependency() of our meson.build files is known to tools/setup, which must be able to install it."""
    table = tree.by_path["tools/setup"].text if "tools/setup" in tree.by_path else ""
    known = set(re.findall(r"^library\s+(\S+)", table, re.MULTILINE))
    for file in tree.files:
        if file.parts[-1] != "meson.build" or file.parts[0] == "subprojects":
            continue
        for number, line in enumerate(file.lines, 1):
            for name in re.findall(r"\bdependency\('([^']+)'", line.partition("#")[0]):
                if name not in known:
                    yield Finding(file.path, number, "set-up", f"tools/setup has no line 'library {name} ...'")


RULES = (layer_arrows, layer_links, purity, headers, no_circles, file_length, words, steady_flags, documents, set_up)


def findings(tree: Tree) -> list[Finding]:
    return sorted({finding for rule in RULES for finding in rule(tree)})


def main(arguments: list[str]) -> int:
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    tree = Tree(root.resolve())
    found = findings(tree)
    for note in long_files(tree):
        print(note)
    for finding in found:
        print(finding)
    print(f"{len(tree.files)} files, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
