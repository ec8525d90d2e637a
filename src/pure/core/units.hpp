// Quantities that must not be mixed up, and the planner's clock.
//
// Counts of replicas and GPUs are types of their own: neither converts to the other, nor to a bare number,
// without being asked. Times are std::chrono durations of doubles, since the reference's schedule is
// arithmetic on double seconds and has to be met to the last bit. Token counts stay bare numbers with their
// unit in the name (docs/adr/0006).
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace dynaplan {

template <class Tag, class Rep>
class Quantity {
public:
    constexpr Quantity() = default;
    constexpr explicit Quantity(Rep count) : count_{count} {}
    [[nodiscard]] constexpr Rep count() const { return count_; }
    friend constexpr auto operator<=>(Quantity, Quantity) = default;
    friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity{a.count_ + b.count_}; }
    friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity{a.count_ - b.count_}; }
    template <class Archive>
    void archive(Archive& a) {
        a(count_);
    }

private:
    Rep count_{};
};

using Replicas = Quantity<struct ReplicasTag, std::int64_t>;
using Gpus = Quantity<struct GpusTag, std::int64_t>;
constexpr Gpus operator*(Replicas n, Gpus each) { return Gpus{n.count() * each.count()}; }

using Seconds = std::chrono::duration<double>;
using Millis = std::chrono::duration<double, std::milli>;

// The time that the core is told. It has no now(): the core cannot ask.
struct PlannerClock {
    using duration = Seconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<PlannerClock>;
    static constexpr bool is_steady = true;
};
using TimePoint = PlannerClock::time_point;

constexpr TimePoint at_seconds(double s) { return TimePoint{Seconds{s}}; }
constexpr double seconds_of(TimePoint t) { return t.time_since_epoch().count(); }

}  // namespace dynaplan
