// The clock of the running program: the wall clock's time at its start, carried on by the monotonic clock.
#pragma once

#include <chrono>

#include "port/clock.hpp"

namespace dynaplan::app {

class ServeClock final : public port::Clock {
public:
    // Never earlier than `floor`, the last time that a restored state has seen.
    explicit ServeClock(TimePoint floor = TimePoint{})
        : started_{std::chrono::steady_clock::now()}, start_{std::max(floor, wall())} {}

    [[nodiscard]] TimePoint now() const override {
        return start_ + Seconds{std::chrono::steady_clock::now() - started_};
    }
    [[nodiscard]] std::int64_t wall_ms() const override {
        const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
        return std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
    }

private:
    static TimePoint wall() {
        return TimePoint{Seconds{std::chrono::system_clock::now().time_since_epoch()}};
    }

    std::chrono::steady_clock::time_point started_;
    TimePoint start_;
};

}  // namespace dynaplan::app
