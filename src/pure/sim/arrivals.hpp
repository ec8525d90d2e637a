// Requests as they come: a shape of the rate over time, and lengths of prompts and answers.
// Poisson arrivals with a changing rate, by thinning (Lewis and Shedler, 1979).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "sim/random.hpp"

namespace dynaplan::sim {

enum class Shape : std::uint8_t {
    constant,  // rate
    ramp,      // rate, from `from` on rising (or falling) to peak within `duration`, then peak
    step,      // rate, from `from` on peak
    spike,     // peak for `duration` from `from` on, again every `period`; else rate
    diurnal,   // a sine between rate (at the start) and peak (half a period later)
    onoff,     // peak for the first `duration` of each `period`, else rate
};
std::string_view to_string(Shape);
std::optional<Shape> shape_from(std::string_view);

struct Load {
    Shape shape = Shape::constant;
    double rate = 10.0;  // requests/s
    double peak = 20.0;  // requests/s; constant does not look at it
    Seconds from{600.0};
    Seconds duration{300.0};
    Seconds period{1800.0};
    Seconds until{std::numeric_limits<double>::infinity()};  // no request from here on
    // Requests/s at a time since the start.
    [[nodiscard]] double rate_at(Seconds) const;
    [[nodiscard]] double highest() const;
};

// Token counts: the mean exactly when sigma is 0, else lognormal with that mean and deviation of the
// logarithm.
struct Lengths {
    double mean = 1000.0;
    double sigma = 0.0;
    std::int64_t most = 1'000'000;
    [[nodiscard]] std::int64_t draw(Random&) const;  // 1 .. most
};

struct TrafficConfig {
    Load load;
    Lengths isl{3000.0, 0.0, 30'000};
    Lengths osl{300.0, 0.0, 4'000};
    double kv_hit_rate = 0.0;  // part of each prompt that the prefix cache holds, 0 .. 0.95
};
std::vector<std::string> problems(const TrafficConfig&);

struct Arrival {
    TimePoint at{};
    std::int64_t isl = 0;
    std::int64_t osl = 0;
};

class Arrivals {
public:
    Arrivals(const TrafficConfig& config, TimePoint start, const Random& random);
    // The next request, or none when there will never be another.
    std::optional<Arrival> next();

private:
    TrafficConfig config_;
    TimePoint start_;
    TimePoint candidate_;
    Random gaps_;
    Random lengths_;
};

}  // namespace dynaplan::sim
