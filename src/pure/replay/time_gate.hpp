// Times from outside that the schedule cannot follow. Every load interval that passes is a tick to run, so
// one wrong time far ahead would keep the planner busy for years; and beyond some size a double has no room
// for the seconds of the tick grid, which would then stand still. Both are refused before they reach the
// core.
#pragma once

#include <cmath>
#include <string>

#include "core/units.hpp"

namespace dynaplan::replay {

// 31 days of ticks at the default interval are half a million, a few seconds of work.
inline constexpr Seconds time_step_max{31.0 * 86'400.0};
// About three thousand years; a double still tells 20 microseconds apart there.
inline constexpr double time_max_s = 1e11;

// Empty when `t` may follow `before`; else what is wrong. `started` is false for the very first time.
[[nodiscard]] inline std::string time_problem(TimePoint t, TimePoint before, bool started) {
    if (!(std::abs(seconds_of(t)) <= time_max_s)) return "the time is beyond 1e11 s";
    if (started && t - before > time_step_max) return "the time is more than 31 days after the one before";
    return {};
}

}  // namespace dynaplan::replay
