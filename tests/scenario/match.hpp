// What a scenario expects against what came: only what is named is compared.
#pragma once

#include <string>
#include <vector>

#include "scenario/scenario_file.hpp"

namespace dynaplan::scenario {

// Appends one text for each difference: "path: expected X, got Y". Objects: the named keys, null is also
// absent. Lists: as long as each other, element by element. Whole numbers and texts exactly, other numbers to
// a relative 1e-9; {"between": [a, b]}, {"at_least": a}, {"at_most": b} take a range.
void compare(const Json& expected, const Json& got, const std::string& path, std::vector<std::string>& out);

// `expected` with each value that differs replaced by what came; ranges stay.
Json updated(const Json& expected, const Json& got);

// A line as a person would write it: a space after each colon and comma.
std::string spaced(const Json&);

}  // namespace dynaplan::scenario
