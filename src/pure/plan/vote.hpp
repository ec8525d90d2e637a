// What the engines of one role would have: more replicas, fewer, or no change, with the reason and the
// numbers behind it.
//
// sla:  up if all estimates are above the target, down if all are below target * sensitivity (core semantics
// 5). easy: up if any engine's queue or KV use passes a threshold, down if all are below another.
//
// Policies at work here: scale_down_check (who survives a scale-down), unreachable_sla (what an empty engine
// at batch 1 misses too is no reason to grow), load_step (how many at once).
#pragma once

#include <optional>

#include "core/config.hpp"
#include "core/effect.hpp"
#include "core/tick.hpp"
#include "plan/roster.hpp"
#include "plan/signal.hpp"

namespace dynaplan::plan {

struct Vote {
    Reason reason = Reason::insufficient_data;
    std::optional<Replicas> desired;  // empty: no opinion, for `reason`
    // Of the estimates, milliseconds; empty without one. Easy votes have none.
    std::optional<Millis> estimate_max;
    std::optional<Millis> estimate_min;
    std::optional<Millis> best_reachable;  // where an empty engine misses the target as well
    std::int64_t engines = 0;              // that had an estimate
    std::optional<Room> room;              // of the survivors; empty where estimates say nothing of it
    Millis target{0.0};
    Millis threshold{0.0};
    // Known means that this vote could have asked for more or less.
    [[nodiscard]] bool known() const {
        return reason != Reason::insufficient_data && reason != Reason::input_not_finite;
    }
};

// A role as a vote sees it.
struct Electorate {
    Role role{};
    Replicas ready{};  // n
    Replicas base{};   // what growth adds to: n, or the standing target where that is larger
    Replicas minimum{};
    std::optional<Replicas> demand_floor;  // of throughput scaling, once a pass succeeded
    const Roster* roster = nullptr;
    SignalInput input;
};

class Voting {
public:
    explicit Voting(const PlannerConfig&);
    [[nodiscard]] Vote sla(const Signal&, const Electorate&) const;
    [[nodiscard]] Vote easy(const Electorate&) const;

private:
    using Survive = bool (*)(const Voting&, const Signal&, const Electorate&, double load);
    using Step = Replicas (*)(const Voting&, const Electorate&);

    [[nodiscard]] Millis target_of(Latency) const;
    void judge_unreachable(const Signal&, const Electorate&, Vote&) const;
    static bool survive_always(const Voting&, const Signal&, const Electorate&, double load);
    static bool survive_consolidation(const Voting&, const Signal&, const Electorate&, double load);
    struct Queueing {  // what a wait is judged by; without an estimate only the rate itself is
        Estimate estimate = nullptr;
        double survivors = 1.0;
        double threshold_ms = 0.0;
    };
    static bool settles_within(const Signal&, const Electorate&, const EngineObservation&, double share,
                               double target_ms);
    static bool rates_fit(const Electorate&, double share, const Queueing&);
    static Replicas step_one(const Voting&, const Electorate&);
    static Replicas step_queue(const Voting&, const Electorate&);

    struct EasyRule;
    [[nodiscard]] std::optional<EasyRule> easy_rule(const Electorate&) const;

    Mode mode_;
    OptimizationTarget optimization_target_;
    Millis ttft_;
    Millis itl_;
    double sensitivity_;  // share of the target
    std::int64_t step_max_;
    bool ignore_unreachable_;
    bool check_survivors_;
    Survive survive_;
    Step step_;
    std::optional<std::int64_t> queue_up_, queue_down_;
    std::optional<double> kv_up_, kv_down_;
};

}  // namespace dynaplan::plan
