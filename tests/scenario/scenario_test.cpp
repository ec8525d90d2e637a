// Every file of this folder is a test: README.md says how to write one.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "scenario/play.hpp"

using namespace dynaplan;
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> files_of(const std::string& folder) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator{fs::path{DYNAPLAN_SCENARIO_DIR} / folder}) {
        if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

void rewrite(const fs::path& file, const std::vector<std::string>& lines) {
    std::ofstream out{file};
    for (const std::string& line : lines) out << line << '\n';
}

void check(const fs::path& file) {
    const auto scenario = scenario::read_scenario(file);
    if (!scenario) {
        FAIL_CHECK(scenario.error().message);
        return;
    }
    INFO(scenario->why);
    const scenario::Played played = scenario::play(*scenario, scenario::Checkpoints::none);
    if (std::getenv("SHOW") != nullptr) {
        for (const std::string& line : played.whole_play) MESSAGE(line);
    }
    if (std::getenv("UPDATE") != nullptr && !played.differences.empty()) {
        rewrite(file, played.lines);
        MESSAGE("rewritten: ", file.string());
        return;
    }
    for (const scenario::Difference& d : played.differences) {
        FAIL_CHECK(file.string() << ":" << d.line << ": " << d.text);
    }
    CHECK_FALSE(scenario->steps.empty());
    const bool expects = std::any_of(scenario->steps.begin(), scenario->steps.end(),
                                     [](const auto& s) { return s.kind == scenario::Step::Kind::expect; });
    CHECK_MESSAGE(expects, file.string(), ": a scenario without an expect can not fail");
    const scenario::Played again = scenario::play(*scenario, scenario::Checkpoints::at_each_expect);
    CHECK_MESSAGE(again.transcript == played.transcript, file.string(),
                  ": a planner that is saved and loaded at each expect goes on differently");
}

void check_folder(const std::string& folder) {
    for (const fs::path& file : files_of(folder)) {
        const std::string name = file.stem().string();
        SUBCASE(name.c_str()) { check(file); }
    }
}

}  // namespace

TEST_SUITE("scenario") {
    TEST_CASE("the cases that operators ask for") { check_folder("cases"); }
    TEST_CASE("every policy field, with the value of either preset") { check_folder("policy"); }
    TEST_CASE("every rule") { check_folder("rules"); }
}
