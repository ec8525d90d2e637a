// Vectors of the kind virtual_scenario: the virtual connector as steps on a store with a simulated clock
// (connectors specification, section 1). Required is `then`; `reference_differs` is information.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "check_vectors/kinds.hpp"
#include "check_vectors/virtual_scenario.hpp"

namespace dynaplan::check_vectors {

namespace {

using nlohmann::json;

// What this program does not know of a step would be left out in silence; false where there is such.
bool knows(const json& step, Report& report) {
    const auto op = step.at("op").get<std::string>();
    const std::vector<std::string>* const own = VirtualScenario::members_of(op);
    if (own == nullptr) {
        report.fail("op", "unknown operation " + op);
        return false;
    }
    bool all_known = true;
    for (const auto& [name, value] : step.items()) {
        constexpr std::array<std::string_view, 4> common{"op", "then", "reference_differs", "note"};
        if (std::find(common.begin(), common.end(), name) != common.end()) continue;
        if (std::find(own->begin(), own->end(), name) != own->end()) continue;
        report.fail(op + '.' + name, "unknown member");
        all_known = false;
    }
    return all_known;
}

// Members one by one, `etcd` as a whole.
void compare_answer(json expected, const json& got, Report& report) {
    if (const auto keys = expected.find("etcd"); keys != expected.end()) {
        report.compare("etcd", *keys, got.at("etcd"));
        expected.erase(keys);
    }
    report.compare_members("", expected, got);
}

void check_case(const json& one, Report& report) {
    if (!report.only_members("case", one,
                             {"id", "summary", "note", "initial_etcd", "steps", "reference_note"})) {
        return;
    }
    VirtualScenario scenario{one.at("initial_etcd")};
    std::int64_t number = 0;
    for (const json& step : one.at("steps")) {
        report.at_step(std::to_string(++number) + " (" + step.at("op").get<std::string>() + ')');
        // What follows a step that cannot be carried out would be compared with another history.
        if (!knows(step, report)) return;
        const json got = scenario.run(step);
        if (const auto then = step.find("then"); then != step.end()) compare_answer(*then, got, report);
    }
}

}  // namespace

void check_virtual(const json& file, Report& report) {
    if (!same(file.at("schema_version"), 1)) {
        report.fail_file("schema_version " + shown(file.at("schema_version")) + " is unknown");
        return;
    }
    // Other lists of cases would be left out in silence.
    for (const auto& [name, value] : file.items()) {
        constexpr std::array<std::string_view, 6> known{"schema_version", "kind", "format",
                                                        "count",          "note", "cases"};
        if (std::find(known.begin(), known.end(), name) == known.end())
            report.fail_file("unknown member " + name);
    }
    for (const json& one : file.at("cases")) {
        report.run_case(one.value("id", std::string{"(no id)"}), [&] { check_case(one, report); });
    }
}

}  // namespace dynaplan::check_vectors
