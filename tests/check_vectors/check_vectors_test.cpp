// The checker itself: it must fail wherever a vector file is wrong, or unknown to it.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "check_vectors/compare.hpp"
#include "check_vectors/kinds.hpp"
#include "check_vectors/report.hpp"
#include "check_vectors/run.hpp"

namespace dynaplan::check_vectors {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

json parse(std::string_view text) { return json::parse(text); }

TEST_CASE("compare: numbers by value, never through a double") {
    CHECK(same(parse("3"), parse("3.0")));
    CHECK(same(parse("-3"), parse("-3.0")));
    CHECK_FALSE(same(parse("3"), parse("3.5")));
    CHECK(same(parse("18446744073709551615"), json(~0ULL)));
    CHECK_FALSE(same(parse("18446744073709551615"), parse("18446744073709551614")));
    CHECK_FALSE(same(parse("9007199254740993"), parse("9007199254740992.0")));
    CHECK(same(parse("9007199254740992"), parse("9007199254740992.0")));
    CHECK_FALSE(same(parse("18446744073709551615"), parse("18446744073709551616.0")));
    CHECK_FALSE(same(parse("-1"), parse("18446744073709551615")));
    CHECK(same(json(std::int64_t{5}), json(std::uint64_t{5})));
    CHECK(same(parse("0.0"), parse("-0.0")));
}

TEST_CASE("compare: true is not 1, null is not 0, text is not a number") {
    CHECK_FALSE(same(parse("true"), parse("1")));
    CHECK_FALSE(same(parse("0"), parse("false")));
    CHECK_FALSE(same(parse("null"), parse("0")));
    CHECK_FALSE(same(parse("\"3\""), parse("3")));
    CHECK(same(parse("null"), parse("null")));
}

TEST_CASE("compare: the three texts stand for doubles, any NaN is any NaN") {
    const double infinity = std::numeric_limits<double>::infinity();
    CHECK(same("NaN", json_of(std::numeric_limits<double>::quiet_NaN())));
    CHECK(same("NaN", json(std::numeric_limits<double>::signaling_NaN())));
    CHECK(same("Infinity", json(infinity)));
    CHECK_FALSE(same("Infinity", json(-infinity)));
    CHECK_FALSE(same("NaN", json(1.0)));
    CHECK_FALSE(same("-Infinity", json(-1e308), Tolerance{1.0, 1.0}));
}

TEST_CASE("compare: a tolerance is for floats, with a floor where asked") {
    CHECK(same(json(1.0), json(1.0 + 1e-10), float_1e9));
    CHECK_FALSE(same(json(1.0), json(1.0 + 1e-8), float_1e9));
    CHECK_FALSE(same(json(1.0), json(1.0 + 1e-10)));
    CHECK_FALSE(same(json(1'000'000'000'000), json(1'000'000'000'001), float_1e9));
    CHECK_FALSE(same(json(0.0), json(1e-16), float_1e9));
    CHECK(same(json(0.0), json(1e-16), Tolerance{1e-9, 1e-15}));
}

TEST_CASE("compare: lists in order and length, objects as a whole") {
    CHECK(same(parse("[1,[2]]"), parse("[1,[2.0]]")));
    CHECK_FALSE(same(parse("[1,2]"), parse("[2,1]")));
    CHECK_FALSE(same(parse("[1]"), parse("[1,2]")));
    CHECK(same(parse(R"({"a":1,"b":2})"), parse(R"({"b":2,"a":1})")));
    CHECK_FALSE(same(parse(R"({"a":1})"), parse(R"({"a":1,"b":2})")));
}

TEST_CASE("report: expected members only, each difference with its place") {
    std::ostringstream out;
    Report report{out};
    report.begin_file("a.json");
    report.run_case("good",
                    [&] { report.compare_members("", parse(R"({"a":1})"), parse(R"({"a":1,"b":2})")); });
    report.run_case("bad", [&] {
        report.at_step(3);
        report.compare_members("x", parse(R"({"a":[{"k":1}],"new":0})"), parse(R"({"a":[{"k":2}]})"));
    });
    report.run_case("broken", [&] { report.compare("x", parse("{}").at("gone"), 1); });
    report.end_file();
    CHECK(report.passed() == 1);
    CHECK(report.failed() == 2);
    CHECK(out.str().find("a.json: bad: step 3: x.a[0].k: expected 1, got 2\n") != std::string::npos);
    CHECK(out.str().find("a.json: bad: step 3: x.new: expected 0, got nothing") != std::string::npos);
    CHECK(out.str().find("a.json: broken: vector: ") != std::string::npos);
}

// A file is written to a folder of its own, which goes with the object.
class Folder {
public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "check_vectors_test.XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    std::string put(const std::string& name, const std::string& text) const {
        fs::create_directories((path_ / name).parent_path());
        std::ofstream{path_ / name, std::ios::binary} << text;
        return (path_ / name).string();
    }
    [[nodiscard]] std::string path() const { return path_.string(); }

private:
    fs::path path_;
};

struct Outcome {
    int code;
    std::string out;
};
Outcome outcome(std::vector<std::string> arguments) {
    std::ostringstream out;
    std::ostringstream errors;
    const int code = run(arguments, out, errors);
    return {code, out.str() + errors.str()};
}

const std::string vectors = DYNAPLAN_VECTORS_DIR;

std::string text_of(const std::string& path) {
    std::ifstream in{path, std::ios::binary};
    REQUIRE(in.good());
    return {std::istreambuf_iterator<char>{in}, {}};
}

TEST_CASE("run: wrong usage is 2, a failure is 1, the last line counts cases") {
    CHECK(outcome({}).code == 2);
    CHECK(outcome({"event-plane"}).code == 2);
    CHECK(outcome({"events", "x.json"}).code == 2);
    const Outcome good = outcome({"event-plane", vectors + "/event-plane/fpm_payload.json"});
    CHECK(good.code == 0);
    CHECK(good.out == "42 passed, 0 failed\n");
    const Outcome missing = outcome({"event-plane", vectors + "/event-plane/no_such_file.json"});
    CHECK(missing.code == 1);
    CHECK(missing.out.ends_with("0 passed, 1 failed\n"));
}

TEST_CASE("run: folders are searched, other files left alone, no vectors is a failure") {
    const Folder folder;
    CHECK(outcome({"event-plane", folder.path()}).code == 1);
    folder.put("notes.txt", "not a vector");
    CHECK(outcome({"event-plane", folder.path()}).code == 1);
    folder.put("deep/er/a.json", text_of(vectors + "/event-plane/fpm_trace.json"));
    CHECK(outcome({"event-plane", folder.path()}).out == "4 passed, 0 failed\n");
    folder.put("b.json", R"({"format_version":1,"count":0,"vectors":[]})");
    CHECK(outcome({"event-plane", folder.path()}).out.ends_with("4 passed, 1 failed\n"));
}

TEST_CASE("run: what is not a sound vector file fails") {
    const Folder folder;
    for (const char* text :
         {"", "[]", "{", "7", "{}", R"({"vectors":[]})", R"({"format_version":2,"vectors":[]})",
          R"({"format_version":1,"vectors":[7]})", R"({"format_version":1,"vectors":{}})"}) {
        CAPTURE(text);
        for (const char* kind : {"event-plane", "core", "models", "predictors", "connectors"}) {
            CAPTURE(kind);
            CHECK(outcome({kind, folder.put("a.json", text)}).code == 1);
        }
    }
}

TEST_CASE("run: a wrong count, an unknown kind, an unknown member fail") {
    const Folder folder;
    const json good = parse(text_of(vectors + "/event-plane/fpm_payload.json"));
    const auto code = [&](const json& file) {
        return outcome({"event-plane", folder.put("a.json", file.dump())}).code;
    };
    CHECK(code(good) == 0);
    json file = good;
    file["count"] = 41;
    CHECK(code(file) == 1);
    file = good;
    file["vectors"][3]["kind"] = "fpm2";
    CHECK(code(file) == 1);
    file = good;
    file["vectors"][3]["expect"]["surprise"] = 1;
    CHECK(code(file) == 1);
    file = good;
    file["vectors"][3]["input2"] = 1;
    CHECK(code(file) == 1);
    file = good;
    file["vectors"][3]["hex"] = "8";
    CHECK(code(file) == 1);
}

// Every value below `expected`, changed one at a time, must make the vector fail.
void change_each(json& expected, const std::function<void()>& must_fail) {
    if (expected.is_object() && !expected.empty()) {
        for (auto& [name, value] : expected.items()) change_each(value, must_fail);
        return;
    }
    if (expected.is_object()) return;
    const json kept = expected;
    if (kept.is_boolean()) {
        expected = !kept.get<bool>();
    } else if (kept.is_number_unsigned()) {
        expected = kept.get<std::uint64_t>() - 1;
    } else if (kept.is_number()) {
        expected = kept.get<double>() + 0.5;
    } else if (kept.is_string()) {
        expected = kept.get<std::string>() + "0";
    } else {
        expected = "other";
    }
    must_fail();
    expected = kept;
}

void check_changes(const std::string& path, void (*check)(const json&, Report&), const char* list,
                   const char* answer) {
    json file = parse(text_of(path));
    for (json& vector : file.at(list)) {
        CAPTURE(vector.at("name").get<std::string>());
        json one = file;
        one["count"] = 1;
        const auto must_fail = [&] {
            one[list] = json::array({vector});
            std::ostringstream out;
            Report report{out};
            check(one, report);
            CAPTURE(vector.at(answer).dump());
            CHECK(report.failed() == 1);
        };
        change_each(vector.at(answer), must_fail);
    }
}

TEST_CASE("event-plane: any change of any expected value is noticed") {
    check_changes(vectors + "/event-plane/fpm_payload.json", check_event_plane, "vectors", "expect");
    check_changes(vectors + "/event-plane/fpm_trace.json", check_event_plane, "vectors", "expect");
    check_changes(vectors + "/models/fpm_wire.json", check_fpm_wire, "cases", "decoded");
}

}  // namespace
}  // namespace dynaplan::check_vectors
