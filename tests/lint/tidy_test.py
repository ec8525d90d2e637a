"""Breaks each rule of tools/tidy.py once, in a small tree of its own, and asks for exactly that finding."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

import case_runner  # noqa: E402
import tidy  # noqa: E402

# A tree that keeps all rules. Words that the rules ban are put together below, so that this file keeps them too.
CLEAN = {
    "meson.build": "zlib_dep = dependency('zlib')\n",
    "tools/setup": "library  zlib  zlib.h  zlib1g-dev  build\n",
    "docs/ARCHITECTURE.md": "| layer | holds |\n|---|---|\n| `core` | words |\n| `model` | fits |\n| `plan` | rules |\n| `app` | wiring |\n| `bus` | bus |\n",
    "docs/adr/0001-two-roots.md": "# 1\n",
    "docs/adr/0002-two-faces.md": "# 2\n",
    "src/pure/core/units.hpp": "#pragma once\n// std::cout << now() is prose here\nconst char* text = \"rand(\";\n",
    "src/pure/core/assert.hpp": "#pragma once\n#include <cstdio>\nvoid f() { std::fprintf(stderr, \"x\"); }\n",
    "src/pure/model/fit.cpp": '#include "core/units.hpp"\nint wall_time(int);\nint a = wall_time(1) + object.time(2);\n',
    "src/pure/model/meson.build": "model_lib = static_library('model', dependencies: [core_dep])\n",
    "src/pure/plan/planner.hpp": '#pragma once\n#include "model/fit.hpp"\n#include "core/units.hpp"\n',
    "src/edge/bus/zmq_adapter.cpp": '#include "core/units.hpp"\n#include <thread>\n',
    "src/app/main.cpp": '#include "plan/planner.hpp"\n#include <CLI/CLI.hpp>\n#include <iostream>\n',
    "tests/unit/model/fit_test.cpp": '#include "model/fit.hpp"\n#include <thread>\n',
}


class TidyTest(unittest.TestCase):
    def check(self, changes: dict[str, str | None]) -> list[str]:
        """The findings on the clean tree with some files replaced, added or (None) left out."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in {**CLEAN, **changes}.items():
                if text is None:
                    continue
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
            return [str(finding) for finding in tidy.findings(tidy.Tree(root))]

    def assert_only(self, changes: dict[str, str | None], *starts: str) -> None:
        found = self.check(changes)
        self.assertEqual(len(found), len(starts), found)
        for finding, start in zip(found, starts):
            self.assertTrue(finding.startswith(start), f"{finding!r} does not start with {start!r}")

    def test_a_clean_tree_has_no_findings(self):
        self.assert_only({})

    def test_an_include_against_the_arrows(self):
        self.assert_only({"src/pure/model/up.cpp": 'int a;\n#include "plan/planner.hpp"\n'},
                         "src/pure/model/up.cpp:2: layers: model may not use plan")

    def test_an_edge_adapter_that_knows_another(self):
        self.assert_only({"src/edge/bus/x.cpp": '#include "observe/log.hpp"\n'},
                         "src/edge/bus/x.cpp:1: layers: bus may not use observe")

    def test_an_include_without_its_folder(self):
        self.assert_only({"src/pure/model/x.cpp": '#include "fit.hpp"\n'}, "src/pure/model/x.cpp:1: layers: include it")

    def test_a_unit_test_that_reaches_up(self):
        self.assert_only({"tests/unit/model/x_test.cpp": '#include "plan/planner.hpp"\n'},
                         "tests/unit/model/x_test.cpp:1: layers: model may not use plan")

    def test_a_layer_without_arrows(self):
        found = self.check({"src/pure/magic/x.cpp": "int a;\n"})
        self.assertTrue(any("unknown layer 'magic'" in finding for finding in found), found)

    def test_a_layer_that_links_upwards(self):
        self.assert_only({"src/pure/model/meson.build": "model_dep = declare_dependency(dependencies: [core_dep, plan_dep])\n"},
                         "src/pure/model/meson.build:1: layers: model may not link plan")

    def test_system_headers_in_pure_code(self):
        for header in ("thread", "mutex", "iostream", "fstream", "random", "boost/asio.hpp", "zmq.hpp", "filesystem",
                       "spdlog/spdlog.h", "CLI/CLI.hpp", "sys/socket.h"):
            with self.subTest(header=header):
                self.assert_only({"src/pure/model/x.cpp": f"#include <{header}>\n"}, "src/pure/model/x.cpp:1: pure:")

    def test_clocks_environment_and_output_in_pure_code(self):
        for code in ("auto t = std::chrono::steady_clock::now();", "auto t = Clock::now();", 'getenv("A");', "int a = rand();",
                     "srand(1);", "auto t = time(nullptr);", "auto t = std::time(nullptr);", 'std::printf("x");',
                     'std::fprintf(stderr, "x");', "std::cout << 1;", 'std::stod("1");', 'fopen("x", "r");'):
            with self.subTest(code=code):
                self.assert_only({"src/pure/model/x.cpp": f"\n{code}\n"}, "src/pure/model/x.cpp:2: pure:")

    def test_the_same_is_allowed_at_the_edge(self):
        self.assert_only({"src/edge/bus/x.cpp": "auto t = std::chrono::steady_clock::now();\n"})

    def test_a_digit_separator_hides_nothing(self):
        self.assert_only({"src/pure/model/x.cpp": "int a = 1'000 + rand();\n"}, "src/pure/model/x.cpp:1: pure:")

    def test_a_header_without_a_guard(self):
        self.assert_only({"src/pure/model/x.hpp": "// #pragma once\nint a;\n"}, "src/pure/model/x.hpp:1: headers: #pragma once")

    def test_using_namespace_in_a_header(self):
        self.assert_only({"src/pure/model/x.hpp": "#pragma once\nusing namespace std;\n"},
                         "src/pure/model/x.hpp:2: headers: no using namespace")

    def test_a_slow_library_that_leaves_its_folder_through_a_header(self):
        slow = {"src/pure/model/x.hpp": "#pragma once\n#include <nlohmann/json.hpp>\n"}
        user = '#include "model/x.hpp"\n'
        self.assert_only({**slow, "src/pure/model/y.hpp": "#pragma once\n" + user},
                         "src/pure/model/x.hpp:2: headers: src/pure/model/y.hpp gets")
        self.assert_only({**slow, "src/pure/plan/y.cpp": user}, "src/pure/model/x.hpp:2: headers: src/pure/plan/y.cpp gets")
        self.assert_only({**slow, "src/pure/model/y.cpp": user})

    def test_headers_that_include_each_other(self):
        self.assert_only({"src/pure/model/a.hpp": '#pragma once\n#include "model/b.hpp"\n',
                          "src/pure/model/b.hpp": '#pragma once\n#include "model/a.hpp"\n'},
                         "src/pure/model/a.hpp:1: circles:")

    def test_a_long_file(self):
        self.assert_only({"src/pure/model/x.cpp": "int a;\n" * 501}, "src/pure/model/x.cpp:501: length:")
        self.assert_only({"src/pure/model/x.cpp": "int a;\n" * 500})

    def test_a_rather_long_file_is_noted(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "src" / "pure" / "model" / "x.cpp"
            path.parent.mkdir(parents=True)
            path.write_text("int a;\n" * 401, encoding="utf-8")
            self.assertEqual(list(tidy.long_files(tidy.Tree(pathlib.Path(folder)))),
                             ["note: src/pure/model/x.cpp has 401 lines (aim: 400)"])

    def test_left_over_marks(self):
        for word in ("TO" + "DO", "FIX" + "ME", "XX" + "X"):
            with self.subTest(word=word):
                self.assert_only({"docs/x.md": f"\n{word}: later\n"}, "docs/x.md:2: words:")
        self.assert_only({"tests/vectors/x.json": "TO" + "DO"})

    def test_paths_of_one_machine(self):
        for folder in ("wor" + "k", "roo" + "t", "far" + "m"):
            with self.subTest(folder=folder):
                self.assert_only({"README.md": f"see /{folder}/x\n"}, "README.md:1: words: names a path")

    def test_registry_hosts(self):
        host = "https://" + "registr" + "y.npmjs.org"
        self.assert_only({"README.md": host + "/x\n"}, "README.md:1: words: names a package registry")
        self.assert_only({"package-lock.json": f'"resolved": "{host}/x.tgz"\n'})
        self.assert_only({"package-lock.json": '"https://pyp' + 'i.example/x"\n'}, "package-lock.json:1: words:")

    def test_flags_that_move_results(self):
        for flag in ("-ffast-math", "-march=native"):
            with self.subTest(flag=flag):
                self.assert_only({"src/app/meson.build": f"args = ['{flag}']\n"}, "src/app/meson.build:1: flags:")
        self.assert_only({"src/app/meson.build": "# never -ffast-math\n"})

    def test_a_layer_without_a_row_in_the_architecture(self):
        self.assert_only({"src/pure/wire/x.cpp": "int a;\n"}, "docs/ARCHITECTURE.md:1: documents: no row for the layer pure/wire")
        self.assertEqual(len(self.check({"docs/ARCHITECTURE.md": None})), 5)

    def test_adr_numbers(self):
        self.assert_only({"docs/adr/0002-again.md": "# 2\n"}, "docs/adr/0002-two-faces.md:1: documents: the number of")
        self.assert_only({"docs/adr/0004-gap.md": "# 4\n"}, "docs/adr/0004-gap.md:1: documents: ADR 0003 is missing")
        self.assert_only({"docs/adr/notes.md": "# n\n"}, "docs/adr/notes.md:1: documents: an ADR is called")

    def test_a_dependency_that_the_set_up_does_not_know(self):
        self.assert_only({"meson.build": "\nx = dependency('libzip')\n"}, "meson.build:2: set-up:")
        self.assert_only({"src/app/meson.build": "x = dependency('eigen3')\n"}, "src/app/meson.build:1: set-up:")
        self.assert_only({"subprojects/x/meson.build": "x = dependency('other')\n"})

    def test_build_folders_and_binaries_are_left_alone(self):
        self.assert_only({"build-x/generated.md": "TO" + "DO\n", "docs/picture.bin": "\0TO" + "DO"})


if __name__ == "__main__":
    case_runner.run()
