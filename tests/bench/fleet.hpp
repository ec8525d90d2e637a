// A fleet that reports through Planner::step: half prefill, half decode engines, each with fresh passes by
// the same recipes as the tick rows.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/samples.hpp"
#include "core/event.hpp"
#include "plan/planner.hpp"

namespace dynaplan::bench {

class ReportingFleet {
public:
    explicit ReportingFleet(std::int64_t engines, std::uint64_t seed = 12345);

    // One fresh report of every engine, in turn, all at this time.
    void report(TimePoint at, std::vector<Event>& out);
    // `rounds` reports of every engine, `step` apart, ending before `until`; the events are the fleet's own,
    // overwritten by the next call.
    [[nodiscard]] std::vector<Event> rounds(std::int64_t rounds, TimePoint from, Seconds step);

    [[nodiscard]] std::int64_t engines() const { return engines_; }

private:
    std::int64_t engines_;
    Draws draws_;
    std::int64_t counter_ = 0;
};

// Inventory of a fleet at its size, then enough reports that every engine's window is full. The planner has
// then been started at 0 and stands a little before its first tick.
void settle_in(plan::Planner&, ReportingFleet&);

// Brings the planner to the state between two ticks: runs what is due, answers traffic, and publishes and
// acknowledges each proposal at once.
void answer(plan::Planner&, const Effects&, TimePoint at, Draws&);

}  // namespace dynaplan::bench
