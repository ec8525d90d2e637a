// The two states of Dynamo's wire formats that are out there (event-plane specification, "Eras"): the
// snapshots of 2026-04-21 and of 2026-08-21. A reader takes both; only where both cannot be had does somebody
// choose.
#pragma once

#include <cstdint>

namespace dynaplan::wire {

enum class Era : std::uint8_t { april, august };

}  // namespace dynaplan::wire
