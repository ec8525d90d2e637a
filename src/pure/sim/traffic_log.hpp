// What a frontend's counters would tell of the last minutes: arrivals with their lengths, and latencies of
// the requests that finished. Bounded by time: older entries than `kept` are forgotten.
#pragma once

#include <deque>

#include "core/reading.hpp"
#include "core/traffic.hpp"
#include "core/units.hpp"
#include "sim/engine.hpp"

namespace dynaplan::sim {

class TrafficLog {
public:
    static constexpr Seconds kept{3600.0};

    void arrived(const Request& r);
    void finished(const Request& r);
    // The window (now - length, now]: idle when nothing arrived in it.
    [[nodiscard]] Reading<Traffic> window(TimePoint now, Seconds length, double kv_hit_rate) const;

private:
    struct Came {
        TimePoint at{};
        double isl = 0.0;
        double osl = 0.0;
    };
    struct Left {
        TimePoint at{};
        Millis ttft{0.0};
        Millis itl{0.0};
    };
    std::deque<Came> came_;
    std::deque<Left> left_;
};

}  // namespace dynaplan::sim
