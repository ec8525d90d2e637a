// The time of the loop: seconds since the Unix epoch that never go back.
//
// It starts at the wall clock and from then on follows the monotonic one, so that a step of the wall clock
// moves nothing, and a restart continues later than everything that was journalled before (unless the wall
// clock was set back in between: then the restored time holds until it is passed).
#pragma once

#include <cstdint>

#include "core/units.hpp"

namespace dynaplan::port {

class Clock {
public:
    Clock() = default;
    virtual ~Clock() = default;
    Clock(const Clock&) = delete;
    Clock& operator=(const Clock&) = delete;

    [[nodiscard]] virtual TimePoint now() const = 0;
    // What people's clocks say, for records that outlive the process.
    [[nodiscard]] virtual std::int64_t wall_ms() const = 0;
};

}  // namespace dynaplan::port
