// What differs between two answers to the same tick, in words; empty when they agree.
#pragma once

#include <optional>
#include <string>

#include "core/tick.hpp"

namespace dynaplan::reference {

// Counts and reasons exactly, other numbers to a relative 1e-9.
std::string differences(const std::optional<ScalingTarget>& got,
                        const std::optional<ScalingTarget>& expected);
std::string differences(const Diagnostics& got, const Diagnostics& expected);
std::string differences(const ScheduledTick& got, const ScheduledTick& expected);

}  // namespace dynaplan::reference
