// When the planner's ticks are due (DESIGN 5.1, "Time"). Load and throughput ticks stand on fixed grids from
// the start, so that no delay accumulates. A throughput tick that falls due stays open until its traffic
// comes or the wait is over; load ticks that fall due meanwhile are merged into it, and one that is due
// within half a second of its run joins it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "core/config.hpp"
#include "core/units.hpp"

namespace dynaplan::plan {

class Agenda {
public:
    static constexpr Seconds merge_tolerance{0.5};
    static constexpr TimePoint never = at_seconds(std::numeric_limits<double>::infinity());

    explicit Agenda(const PlannerConfig&);
    void start(TimePoint);
    // After a time in which nobody looked: what fell due by then is not made up for, the grids stay where
    // they are.
    void resume(TimePoint now);

    // The next time at which run_next has something to do.
    [[nodiscard]] TimePoint next() const;

    enum class Kind : std::uint8_t {
        open_throughput,  // a throughput tick fell due: ask for its traffic
        run_tick,         // run a tick now, with or without the throughput part
    };
    struct Due {
        Kind kind{};
        bool load = false;
        bool throughput = false;
    };
    // Takes what is due at next() off the agenda; `now` is next().
    Due run_next(TimePoint now);

    // Traffic came. If a throughput tick is open or due, says what the tick has to run; empty if none waits.
    std::optional<Due> traffic_came(TimePoint now);
    // The throughput tick that is due at `now` but not open yet, if any: it is opened.
    bool open_if_due(TimePoint now);

    // Pulls the next load tick nearer, at most one per reaction_min_interval after the last one.
    void pull_load(TimePoint now);

    template <class Archive>
    void archive(Archive& a) {
        a(start_, load_count_, throughput_count_, open_since_, merged_load_, pulled_, last_load_);
    }

private:
    [[nodiscard]] TimePoint load_due() const {
        return start_ + load_interval_ * static_cast<double>(load_count_);
    }
    [[nodiscard]] TimePoint throughput_due() const;
    [[nodiscard]] TimePoint next_load() const;
    void take_load(TimePoint now);
    Due close(TimePoint now);

    Seconds load_interval_;
    Seconds throughput_interval_;
    Seconds traffic_wait_;
    Seconds reaction_min_interval_;
    bool throughput_;
    TimePoint start_{};
    std::int64_t load_count_ = 1;  // grid index of the next load tick
    std::int64_t throughput_count_ = 1;
    std::optional<TimePoint> open_since_;
    bool merged_load_ = false;
    std::optional<TimePoint> pulled_;
    TimePoint last_load_{};
};

}  // namespace dynaplan::plan
