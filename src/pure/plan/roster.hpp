// Which of the engines that reported take part in a decision (policy `reconcile`).
//
// strict:   the reference. Workers that report must be exactly the ready ones, with the same number of ranks
// each; else
//           nothing is decided.
// tolerant: whoever reports is heard. An engine that has been silent for engine_silent, or sits on queued
// work without a
//           pass for engine_stuck, is left out; that never blocks growth (case A05).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/policy.hpp"
#include "core/tick.hpp"

namespace dynaplan::plan {

struct Roster {
    std::vector<const EngineObservation*> engines;  // that take part, in order of first appearance
    std::int64_t workers = 0;                       // distinct workers among them
    std::int64_t silent = 0;                        // left out
    std::int64_t stuck = 0;
    bool mismatch = false;  // strict only
};

class RosterRule {
public:
    explicit RosterRule(const Policy&);
    // Fills `roster`, reusing its room. O(engines).
    void take(std::span<const EngineObservation> reported, Replicas ready, TimePoint now, Roster& roster);

private:
    using Rule = void (RosterRule::*)(std::span<const EngineObservation>, Replicas, TimePoint, Roster&);
    void take_strict(std::span<const EngineObservation>, Replicas, TimePoint, Roster&);
    void take_tolerant(std::span<const EngineObservation>, Replicas, TimePoint, Roster&);
    std::int64_t& ranks_of(WorkerIndex);

    Rule rule_;
    Seconds engine_silent_;
    Seconds engine_stuck_;
    struct RankCount {
        std::uint64_t round = 0;
        std::int64_t ranks = 0;
    };
    std::vector<RankCount> ranks_;  // by worker index; counts of another round are void
    std::uint64_t round_ = 0;
};

}  // namespace dynaplan::plan
