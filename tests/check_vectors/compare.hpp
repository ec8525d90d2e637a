// When two values of a vector file are the same (vectors/README.md, comparison rules).
//
// Integers keep their 64 bits: they never pass through a double. Integers and floats are compared by value (3
// and 3.0 are the same), but true and 1 are not. The texts "NaN", "Infinity" and "-Infinity" stand for the
// doubles where the other side is a number; any NaN equals any NaN; -0.0 equals 0.0.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace dynaplan::check_vectors {

// Two floats are close when they differ by at most max(relative x the larger magnitude, absolute). Integers
// are always compared exactly. A float against an integer counts as a float.
struct Tolerance {
    double relative = 0.0;
    double absolute = 0.0;
};
inline constexpr Tolerance exact{};
// core and models: "floats relative 1e-9".
inline constexpr Tolerance float_1e9{1e-9, 0.0};

bool same(const nlohmann::json& expected, const nlohmann::json& got, const Tolerance& tolerance = exact);

// A number or one of the three texts as a double; nothing for anything else.
std::optional<double> as_double(const nlohmann::json& value);

// A double for the `got` side; NaN and infinities as their texts, so that they can be printed.
nlohmann::json json_of(double value);

// For messages: compact JSON, shortened in the middle when very long.
std::string shown(const nlohmann::json& value);

}  // namespace dynaplan::check_vectors
