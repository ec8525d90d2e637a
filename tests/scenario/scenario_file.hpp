// A scenario file (README.md beside this file says what its lines are), read and unfolded: short forms become
// plain lines of the step protocol.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/result.hpp"

namespace dynaplan::scenario {

using Json = nlohmann::ordered_json;

struct Step {
    enum class Kind : std::uint8_t { config, assume, timeout, event, expect };
    Kind kind{};
    std::size_t line = 0;  // in the file, from 1
    Json value;            // of an event the whole line, else what stands under the key
};

struct Scenario {
    std::string name;  // of the file, without its ending
    std::string why;
    std::vector<Step> steps;
    std::vector<std::string> lines;  // as they stand in the file
};

// What is wrong is said with the line's number.
Result<Scenario> read_scenario(const std::filesystem::path&);

}  // namespace dynaplan::scenario
