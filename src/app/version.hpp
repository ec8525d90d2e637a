// The program's version, from the build.
#pragma once

#include <string_view>

namespace dynaplan::app {

inline constexpr std::string_view program_version = DYNAPLAN_VERSION;

}  // namespace dynaplan::app
