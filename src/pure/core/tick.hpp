// The reference's own contract (specification, core semantics 1 and 3): what one tick is given and what it
// answers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/effect.hpp"
#include "core/engine.hpp"
#include "core/fpm.hpp"
#include "core/reading.hpp"
#include "core/reasons.hpp"
#include "core/role.hpp"
#include "core/traffic.hpp"
#include "core/units.hpp"

namespace dynaplan {

struct ScheduledTick {
    TimePoint at{};
    bool run_load = false;
    bool run_throughput = false;
    bool need_traffic = false;
    Seconds traffic_duration{0.0};
    bool need_worker_states = true;
    bool need_fpm = false;
    template <class Archive>
    void archive(Archive& a) {
        a(at, run_load, run_throughput, need_traffic, traffic_duration, need_worker_states, need_fpm);
    }
};

struct WorkerCounts {
    PerRole<std::optional<Replicas>> ready;
    PerRole<std::optional<Replicas>> expected;
};

// The newest report of one engine as a tick sees it. Lists of these keep the order in which engines first
// appeared.
struct EngineObservation {
    EngineIndex engine{};  // dense, per role; the model layer keeps its per-engine state under it
    WorkerIndex worker{};  // interned worker_id: ranks of one worker share it
    std::int64_t dp_rank = 0;
    ForwardPass pass;
    TimePoint heard_at{};  // arrival of the newest report
    TimePoint
        advanced_at{};  // arrival of the newest report of a real pass (wall_time > 0), or of the first report
    Capabilities capabilities;  // the engine's own, where it has them
};

struct FpmSnapshot {
    std::span<const EngineObservation> prefill;
    std::span<const EngineObservation> decode;  // agg engines report here
    [[nodiscard]] std::span<const EngineObservation> operator[](Role r) const {
        return r == Role::prefill ? prefill : decode;
    }
};

// What the survivors of a scale-down would have left, as the load pass of one tick judges it.
enum class Room : std::uint8_t {
    none,    // they would miss a target or a threshold: no shrinking
    enough,  // they would carry what there is
    ample,   // they would carry a quarter more as well
};

// What keeps a role from following a proposal, as the planner's guard sees it at this tick. The rules apply
// it in the `guard` stage of the last clamp; empty under the reference's contract.
struct Restraint {
    std::optional<Reason> closed;    // no growth beyond the standing target: an earlier change is not through
    bool frozen = false;             // not even minimum or floor: a decision is not acknowledged yet
    std::int64_t lower_windows = 0;  // throughput windows in a row, before this one, that asked for less
    std::optional<TimePoint> lower_since;  // load only: since when every load tick asked for less
    std::optional<Reason> shrink_blocked;  // engines are missing: their load is not known
    // The ready count is what has been heard, while more may be there: it says nothing about the minimum.
    bool ready_unknown = false;
    // Load scaling alone waits: what survivors would carry, or what the last growth does, cannot be seen yet.
    std::optional<Reason> load_shrink_blocked;
    std::optional<Reason> load_growth_blocked;
    // The most that a forecast of the last ten minutes needed, with a margin.
    std::optional<Replicas> shrink_at_least;
    std::optional<Replicas>
        growth_at_least;  // while settling, a growing target is at least this, plus the step
    // A fleet that has fallen silent as a whole is not set to less than it was known to be.
    std::optional<Replicas> minimum_at_least;
    std::optional<TimePoint> since;
    std::optional<TimePoint> deadline;
};

struct TickInput {
    TimePoint now{};
    std::optional<Reading<Traffic>> traffic;  // empty: nothing was asked for
    std::optional<WorkerCounts> worker_counts;
    std::optional<FpmSnapshot> fpm;
    PerRole<Restraint> restraint;
};

struct ScalingTarget {
    std::optional<Replicas> prefill;  // empty: no opinion
    std::optional<Replicas> decode;
    bool operator==(const ScalingTarget&) const = default;
    [[nodiscard]] const std::optional<Replicas>& operator[](Role r) const {
        return r == Role::prefill ? prefill : decode;
    }
    std::optional<Replicas>& operator[](Role r) { return r == Role::prefill ? prefill : decode; }
};

struct TickResult {
    std::optional<ScalingTarget> scale_to;
    Reason reason = Reason::no_change;       // of scale_to
    bool cancels = false;                    // scale_to takes back capacity that is still pending
    PerRole<std::optional<Replicas>> asked;  // what each role would get if nothing restrained it
    // What the forecast needs, with a margin; empty without a throughput pass that decided.
    PerRole<std::optional<Replicas>> needed_with_margin;
    PerRole<std::optional<Room>> room;  // empty: the load pass did not run, or knows nothing
    // What an empty engine takes at batch 1, where that misses the target.
    std::optional<Millis> best_reachable_ttft;
    std::optional<Millis> best_reachable_itl;
    std::int64_t engines_silent = 0;  // left out of the load pass
    std::int64_t engines_stuck = 0;
    ScheduledTick next_tick;
    Diagnostics diagnostics;
    Why why;
};

}  // namespace dynaplan
