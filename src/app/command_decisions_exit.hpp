// How the commands of `dynaplan decisions` end (DESIGN 7).
#pragma once

namespace dynaplan::app::decisions_exit {

inline constexpr int done = 0;
inline constexpr int failed = 1;
inline constexpr int wrong_usage = 2;
inline constexpr int time_over = 4;
inline constexpr int interrupted = 130;

}  // namespace dynaplan::app::decisions_exit
