#include <doctest/doctest.h>

#include <algorithm>

#include "app/config_node.hpp"
#include "config_test_files.hpp"

using namespace dynaplan;
using namespace dynaplan::app;
using Lines = std::vector<std::string>;

namespace {

// The one problem of a file that is no configuration.
std::string refusal(const TestFolder& folder, const std::string& name, std::string_view text) {
    const auto problems = bare(load(folder.write(name, text)).problems, folder);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].find('\n') == std::string::npos);
    return problems[0];
}

std::string repeated(std::string_view what, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += what;
    return out;
}

}  // namespace

TEST_CASE("document: what is neither a file nor JSON names both possibilities") {
    CHECK(load("/no/such/file.yaml").problems ==
          Lines{"--config: \"/no/such/file.yaml\" is neither a file that exists nor inline JSON ({...})"});
    CHECK(load("").problems == Lines{"--config: is empty; give a file or inline JSON"});
    CHECK(any_has(load("ttft: 500").problems, "neither a file that exists nor inline JSON"));
    // A name too long for the file system is not a file either.
    CHECK(any_has(load(std::string(5000, 'x')).problems, "neither a file"));
    CHECK(load("{" + std::string(5000, ' ') + "\"ttft\": 400}").config.planner.ttft == Millis{400.0});
    CHECK(any_has(load("{\"ttft\": 400").problems, "--config:1: syntax error"));
    CHECK(any_has(load("[1]").problems, "a configuration is a map of fields"));
}

TEST_CASE("document: folders and devices are not files") {
    const TestFolder folder;
    CHECK(load(folder.path()).problems == Lines{folder.path() + ": is a directory, not a file"});
    CHECK(load("/dev/null").problems == Lines{"/dev/null: is not a regular file"});
}

TEST_CASE("document: the extension chooses the notation, any case, else JSON then YAML") {
    const TestFolder folder;
    CHECK(load(folder.write("a.YML", "ttft: 300")).config.planner.ttft == Millis{300.0});
    CHECK(load(folder.write("a.JSON", R"({"ttft": 300})")).config.planner.ttft == Millis{300.0});
    CHECK(any_has(load(folder.write("b.json", "ttft: 300")).problems, "b.json:1: syntax error"));
    CHECK(load(folder.write("a.conf", "ttft: 300")).config.planner.ttft == Millis{300.0});
    CHECK(load(folder.write("b.conf", R"({"ttft": 300})")).config.planner.ttft == Millis{300.0});
    CHECK(load(folder.write("bom.yaml", "\xEF\xBB\xBFttft: 300")).config.planner.ttft == Millis{300.0});
    CHECK(load(folder.write("crlf.yaml", "ttft: 300\r\nitl: 40\r\n")).config.planner.itl == Millis{40.0});
}

TEST_CASE("document: empty files and files of something else") {
    const TestFolder folder;
    CHECK(refusal(folder, "a.yaml", "") == "a.yaml: is empty; write {} for all defaults");
    CHECK(refusal(folder, "a.json", " \n\n") == "a.json: is empty; write {} for all defaults");
    CHECK(refusal(folder, "b.yaml", "# nothing\n") == "b.yaml:1: holds no value; write {} for all defaults");
    CHECK(refusal(folder, "c.yaml", std::string_view{"a: \0b", 5}) == "c.yaml: is not a text file");
    CHECK(refusal(folder, "d.yaml", "- 1\n") ==
          "d.yaml:1: a configuration is a map of fields, as in \"ttft: 500\"");
    CHECK(refusal(folder, "e.yaml", "just words\n") ==
          "e.yaml:1: a configuration is a map of fields, as in \"ttft: 500\"");
    CHECK(load(folder.write("f.yaml", "{}")).problems == Lines{});
    CHECK(refusal(folder, "g.yaml", repeated("# comment\n", 200'000)) ==
          "g.yaml: is larger than 1048576 bytes: this is no configuration");
}

TEST_CASE("document: syntax errors name their line") {
    const TestFolder folder;
    CHECK(refusal(folder, "a.yaml", "ttft: 5\n\titl: 5\n") ==
          "a.yaml:2: illegal tab when looking for indentation");
    CHECK(refusal(folder, "b.yaml", "ttft: 5\nbus: {a: 1\n").rfind("b.yaml:3: ", 0) == 0);
    CHECK(refusal(folder, "c.json", "{\n\"ttft\": 5,\n}").rfind("c.json:3: syntax error", 0) == 0);
    CHECK(refusal(folder, "d.json", "{\"ttft\": 1e400}") == "d.json:1: number overflow parsing '1e400'");
    CHECK(refusal(folder, "e.json", "{\"ttft\": 5} x").rfind("e.json:1: syntax error", 0) == 0);
    CHECK(refusal(folder, "f.json", "{\"ttft\": NaN}").rfind("f.json:1: syntax error", 0) == 0);
    CHECK(refusal(folder, "g.yaml", "ttft: 5\n---\nitl: 5\n") ==
          "g.yaml:1: holds more than one YAML document");
}

TEST_CASE("document: only plain YAML") {
    const TestFolder folder;
    CHECK(refusal(folder, "a.yaml", "ttft: !!python/object:os.system 5\n") ==
          "a.yaml:1: the tag tag:yaml.org,2002:python/object:os.system is not supported");
    CHECK(refusal(folder, "b.yaml", "a: &a [*a]\n") == "b.yaml:1: an alias inside its own value");
    CHECK(refusal(folder, "c.yaml", "? [a, b]\n: 5\n") == "c.yaml:1: a key must be a plain word");
    CHECK(refusal(folder, "d.yaml", "ttft: 400\nttft: 300\n") == "d.yaml:2: ttft: is given twice");
    CHECK(load(folder.write("e.yaml", "ttft: &t 400\nitl: *t\n")).config.planner.itl == Millis{400.0});
    CHECK(load(folder.write("f.yaml", "ttft: !!int 400\n")).config.planner.ttft == Millis{400.0});
}

TEST_CASE("document: nesting and aliases are bounded") {
    const TestFolder folder;
    const std::string deep = repeated("[", 100'000) + repeated("]", 100'000);
    CHECK(refusal(folder, "a.json", "{\"a\":" + deep + "}") == "a.json:1: nested deeper than 32 levels");
    CHECK(refusal(folder, "a.yaml", "a: " + deep) == "a.yaml:1: nested deeper than 32 levels");
    std::string bomb = "l0: &l0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
    for (int i = 1; i < 10; ++i) {
        const std::string last = "*l" + std::to_string(i - 1);
        bomb += "l" + std::to_string(i) + ": &l" + std::to_string(i) + " [" + repeated(last + ", ", 9) +
                last + "]\n";
    }
    CHECK(refusal(folder, "bomb.yaml", bomb).find("more than 20000 values (aliases expanded)") !=
          std::string::npos);
    CHECK(refusal(folder, "wide.json", "{\"a\": [" + repeated("1,", 30'000) + "1]}") ==
          "wide.json:1: more than 20000 values");
}

TEST_CASE("document: what aliases make of a small file is bounded in text and depth, too") {
    const TestFolder folder;
    const std::string text = "a: &a " + std::string(100'000, 'x') + "\n";
    CHECK(refusal(folder, "a.yaml", text + "b:\n  c: [" + repeated("*a, ", 5000) + "]\n") ==
          "a.yaml:3: more than 1048576 bytes of text (aliases expanded)");
    const std::string keyed = "a: &a {" + std::string(900, 'k') + ": 1}\n";
    CHECK(refusal(folder, "b.yaml", keyed + "b:\n  c: [" + repeated("*a, ", 5000) + "]\n") ==
          "b.yaml:3: more than 1048576 bytes of text (aliases expanded)");
    const auto nested = [](const std::string& inside, int levels) {
        return repeated("[", levels) + inside + repeated("]", levels) + "\n";
    };
    CHECK(refusal(folder, "c.yaml", "a: &a " + nested("", 16) + "b: " + nested("*a", 16)) ==
          "c.yaml:2: nested deeper than 32 levels");
    CHECK(parse_yaml("a: &a " + nested("", 16) + "b: " + nested("*a", 15)));
}

TEST_CASE("document: what a message quotes of a file is short and can be printed") {
    const TestFolder folder;
    const std::string long_text(100'000, 'x');
    const auto check = [&](const std::string& name, const std::string& text) {
        CAPTURE(text.substr(0, 100));
        const auto loaded = load(folder.write(name, text));
        CHECK_FALSE(loaded.ok());
        for (const std::string& line : bare(loaded.problems, folder)) {
            CHECK(line.size() < 300);
            CHECK(std::none_of(line.begin(), line.end(),
                               [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; }));
        }
    };
    for (const std::string& bad : {long_text, std::string{"\\u001b[31m\\u007f"}}) {
        for (const std::string& field :
             {R"("ttft": ")" + bad + '"', R"("mode": ")" + bad + '"', '"' + bad + R"(": 1)",
              R"("policy": {")" + bad + R"(": 1})", R"("http": {"listen": ")" + bad + R"("})",
              R"("http": {"listen": ")" + bad + R"("}, "control_api_port": 1)",
              R"("bus": {"endpoints": [")" + bad + R"("]})",
              R"("bus": {"endpoints": [{"url": "tcp://h:1", "role": ")" + bad + R"("}]})",
              R"("bus": {"endpoints": [{"url": "tcp://h:1", ")" + bad + R"(": "decode"}]})",
              R"("metric_pulling_prometheus_ca_bundle": ")" + bad + '"'}) {
            check("a.json", "{" + field + "}");
        }
    }
    check("b.json", "{\"ttft\": \"" + long_text);
    check("b.yaml", "ttft: !" + long_text + " 5\n");
    check("c.yaml", "ttft: *" + long_text + "\n");
    check("d.yaml", "ttft: \"\\\x1b\"\n");
}

TEST_CASE("document: a key of any length or content gives one short line") {
    const TestFolder folder;
    const auto line = refusal(folder, "a.json", "{\"" + std::string(100'000, 'k') + "\": 1}");
    CHECK(line.size() < 200);
    CHECK(refusal(folder, "b.json", R"({"a\nb\u0007": 1})") == "b.json:1: a?b?: no such field");
}

TEST_CASE("document: thousands of unknown keys are all told, quickly") {
    const TestFolder folder;
    std::string text;
    for (int i = 0; i < 2000; ++i) text += "unknown_field_number_" + std::to_string(i) + ": 1\n";
    CHECK(load(folder.write("a.yaml", text)).problems.size() == 2000);
}

// A small fuzz: every cut and every spoilt byte of good files either loads or is told in one-line problems.
TEST_CASE("document: cut and spoilt files never do worse than a list of problems") {
    const TestFolder folder;
    const std::string yaml =
        "mode: disagg\npolicy: {trigger: event, warmup_outlier: off}\nttft: &t 500\nitl: *t\n"
        "bus:\n  endpoints:\n    - {url: \"tcp://127.0.0.1:20380\", role: decode}\n";
    const std::string json =
        R"({"ttft": 5e2, "policy": {"trigger": "event"}, "etcd": {"endpoints": ["http://h:1"]}, "advisory": true})";
    int loaded = 0;
    const auto one = [&](const std::string& name, const std::string& text) {
        const auto result = load(folder.write(name, text));
        loaded += result.ok() ? 1 : 0;
        for (const auto& line : result.problems) {
            CHECK(line.find('\n') == std::string::npos);
            CHECK(line.find(folder.path()) == 0);
        }
    };
    for (const auto& [name, text] : {std::pair{"a.yaml", yaml}, std::pair{"a.json", json}}) {
        for (std::size_t i = 0; i < text.size(); i += 5) {
            one(name, text.substr(0, i));
            for (const char spoilt : {'\x01', '\xFF', '{', '*'}) {
                std::string other = text;
                other[i] = spoilt;
                one(name, other);
            }
        }
        one(name, text);
    }
    CHECK(loaded > 2);
}
