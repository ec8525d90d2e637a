// For the tests of the checkers: a vector file whose expected values are changed one at a time; each change
// has to make its case fail.
#pragma once

#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "check_vectors/report.hpp"

namespace dynaplan::check_vectors {

inline const std::string vectors = DYNAPLAN_VECTORS_DIR;

inline std::string text_of(const std::string& path) {
    std::ifstream in{path, std::ios::binary};
    REQUIRE(in.good());
    return {std::istreambuf_iterator<char>{in}, {}};
}

// Every value below `expected`, changed one at a time, must make the vector fail.
inline void change_each(nlohmann::json& expected, const std::function<void()>& must_fail) {
    if (expected.is_object() && !expected.empty()) {
        for (auto& [name, value] : expected.items()) change_each(value, must_fail);
        return;
    }
    if (expected.is_object()) return;
    const nlohmann::json kept = expected;
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

// Fails where a change of `answer`, a part of `entry`, goes unnoticed in a file that holds this entry alone.
inline void check_changes_of(nlohmann::json& answer, const nlohmann::json& entry, nlohmann::json file,
                             const char* list, void (*check)(const nlohmann::json&, Report&)) {
    file["count"] = 1;
    change_each(answer, [&] {
        file[list] = nlohmann::json::array({entry});
        std::ostringstream out;
        Report report{out};
        check(file, report);
        CAPTURE(answer.dump());
        CHECK(report.failed() == 1);
    });
}

}  // namespace dynaplan::check_vectors
