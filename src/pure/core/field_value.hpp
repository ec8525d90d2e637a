// A configuration value on its way to a typed field.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace dynaplan {

using FieldValue = std::variant<std::monostate, bool, std::int64_t, double, std::string>;  // monostate: null

}  // namespace dynaplan
