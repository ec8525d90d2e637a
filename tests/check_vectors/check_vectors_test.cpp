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

#include "check_vectors/changed_vectors.hpp"
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

void check_changes(const std::string& path, void (*check)(const json&, Report&), const char* list,
                   const char* answer) {
    json file = parse(text_of(path));
    REQUIRE_FALSE(file.at(list).empty());
    for (json& vector : file.at(list)) {
        CAPTURE(vector.at("name").get<std::string>());
        check_changes_of(vector.at(answer), vector, file, list, check);
    }
}

TEST_CASE("event-plane: any change of any expected value is noticed") {
    check_changes(vectors + "/event-plane/fpm_payload.json", check_event_plane, "vectors", "expect");
    check_changes(vectors + "/event-plane/fpm_trace.json", check_event_plane, "vectors", "expect");
    check_changes(vectors + "/event-plane/subjects.json", check_event_plane, "vectors", "expect");
    check_changes(vectors + "/event-plane/zmq_frames.json", check_event_plane, "vectors", "expect");
    check_changes(vectors + "/models/fpm_wire.json", check_fpm_wire, "cases", "decoded");
}

TEST_CASE("event-plane: any change of an envelope's expected values is noticed, where one is expected") {
    json file = parse(text_of(vectors + "/event-plane/envelopes.json"));
    for (json& vector : file.at("vectors")) {
        const auto name = vector.at("name").get<std::string>();
        CAPTURE(name);
        json& expected = vector.at("expect");
        if (name == "envelope_payload_as_int_array") {
            // The eras differ and we refuse it, so there is no payload to compare: the other members count.
            for (const char* member : {"decode", "april", "august"}) {
                check_changes_of(expected.at(member), vector, file, "vectors", check_event_plane);
            }
        } else {
            check_changes_of(expected, vector, file, "vectors", check_event_plane);
        }
    }
}

TEST_CASE("event-plane: any change of discovery's expected values is noticed") {
    json file = parse(text_of(vectors + "/event-plane/discovery.json"));
    for (json& vector : file.at("vectors")) {
        CAPTURE(vector.at("name").get<std::string>());
        for (auto& [member, value] : vector.at("expect").items()) {
            if (member == "watching") continue;  // an input that stands among the expected values
            check_changes_of(value, vector, file, "vectors", check_event_plane);
        }
    }
}

TEST_CASE("event-plane: an input that is not sound fails, whatever is expected") {
    const Folder folder;
    const auto code = [&](const char* name, const std::function<void(json&)>& change) {
        json file = parse(text_of(vectors + "/event-plane/" + name));
        change(file.at("vectors"));
        return outcome({"event-plane", folder.put("a.json", file.dump())}).code;
    };
    const auto nothing = [](json&) {};
    for (const char* name : {"envelopes.json", "subjects.json", "zmq_frames.json", "discovery.json"}) {
        CHECK(code(name, nothing) == 0);
    }
    CHECK(code("envelopes.json", [](json& all) { all[0]["hex"] = "8"; }) == 1);
    CHECK(code("zmq_frames.json", [](json& all) { all[0]["frames_hex"][1] = "xx"; }) == 1);
    CHECK(code("subjects.json", [](json& all) { all[0]["era"] = "both"; }) == 1);
    CHECK(code("subjects.json", [](json& all) { all[0]["input"]["cluster"] = "x"; }) == 1);
    CHECK(code("discovery.json", [](json& all) { all[0]["backend"] = "consul"; }) == 1);
    CHECK(code("discovery.json", [](json& all) { all[0]["hex"] = "00"; }) == 1);
}

TEST_CASE("worker metadata: any change of what is required of a role is noticed") {
    json file = parse(text_of(vectors + "/connectors/worker_metadata.json"));
    REQUIRE_FALSE(file.at("cases").empty());
    for (json& one : file.at("cases")) {
        CAPTURE(one.at("id").get<std::string>());
        for (auto& [role, members] : one.at("expect_reference").items()) {
            for (auto& [member, value] : members.items()) {
                const auto better = one.find("recommended");
                const bool replaced =
                    better != one.end() && better->contains(role) && better->at(role).contains(member);
                json& required = replaced ? better->at(role).at(member) : value;
                check_changes_of(required, one, file, "cases", check_worker_metadata);
            }
        }
    }
}

TEST_CASE("worker metadata: any change of a count, of an id, of whether a card is for prefill is noticed") {
    json file = parse(text_of(vectors + "/connectors/worker_metadata.json"));
    file["cases"] = json::array();
    REQUIRE_FALSE(file.at("primitive_cases").empty());
    for (json& one : file.at("primitive_cases")) {
        CAPTURE(one.at("id").get<std::string>());
        if (one.contains("etcd_keys")) {
            for (const char* member : {"count", "instance_ids"}) {
                check_changes_of(one.at("expect").at(member), one, file, "primitive_cases",
                                 check_worker_metadata);
            }
            continue;
        }
        for (std::size_t i = 0; i < one.at("cards").size(); ++i) {
            const std::string pair = "pair_" + std::to_string(i);
            const auto better = one.find("recommended");
            const bool replaced = better != one.end() && better->contains(pair);
            json& required = replaced ? better->at(pair) : one.at("cards")[i][1];
            check_changes_of(required, one, file, "primitive_cases", check_worker_metadata);
        }
    }
}

}  // namespace
}  // namespace dynaplan::check_vectors
