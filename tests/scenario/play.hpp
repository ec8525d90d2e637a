// Plays a scenario: planner and coordinator on a memory store, in virtual time, as `dynaplan step` runs them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scenario/scenario_file.hpp"

namespace dynaplan::scenario {

struct Difference {
    std::size_t line = 0;
    std::string text;
};

struct Played {
    std::vector<Difference> differences;
    std::string transcript;               // every effect, one a line
    std::vector<std::string> lines;       // of the file, with expectations as they came out
    std::vector<std::string> whole_play;  // every moment with its input, to look at
};

enum class Checkpoints : std::uint8_t {
    none,
    at_each_expect,  // the planner is saved and loaded there: it must go on as if nothing had happened
};

Played play(const Scenario&, Checkpoints);

}  // namespace dynaplan::scenario
