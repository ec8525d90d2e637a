// Everything the core wants, returned from a step, in order. The JSON form of each is in proto/step.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/event.hpp"
#include "core/reasons.hpp"
#include "core/role.hpp"
#include "core/units.hpp"

namespace dynaplan {

// The sixteen fields of the reference. All but the bounds are empty until the tick sets them.
struct Diagnostics {
    std::optional<Millis> estimated_ttft;  // largest over engines
    std::optional<Millis> estimated_itl;
    std::optional<double> predicted_num_req;
    std::optional<double> predicted_isl;
    std::optional<double> predicted_osl;
    std::optional<double> predicted_kv_hit_rate;
    PerRole<std::optional<double>> engine_rps;  // requests/s of one engine under the target
    PerRole<Replicas> throughput_lower_bound{Replicas{1}, Replicas{1}};
    std::optional<Reason> load_decision_reason;
    std::optional<Reason> throughput_decision_reason;
    PerRole<std::optional<Reason>> load_decision_reason_of;
    PerRole<std::optional<Reason>> throughput_decision_reason_of;
};

// Stages of the last clamp, in their order.
enum class ClampStage : std::uint8_t { step, guard, minimum, floor, budget };
std::string_view to_string(ClampStage);

// Whatever keeps a role from acting: named, dated, and ending by itself.
struct Hold {
    Role role{};
    Reason reason{};
    TimePoint since{};
    std::optional<TimePoint> deadline;  // empty: ends with the next report of what is missing
};

// Why a role's target is what it is: the estimate that decided, what it was compared with, and what clamped
// it.
struct RoleWhy {
    Replicas ready{};
    std::optional<Replicas> expected;
    std::int64_t engines = 0;           // that took part
    std::int64_t engines_left_out = 0;  // silent, stuck or without an estimate
    std::optional<Millis> estimate_max;
    std::optional<Millis> estimate_min;
    std::optional<Millis> target;          // TTFT or ITL target
    std::optional<Millis> threshold;       // below this on all engines: a scale-down is considered
    std::optional<Millis> best_reachable;  // an empty engine at batch 1, where that misses the target
    std::optional<Reason> load_reason;
    std::optional<Reason> throughput_reason;
    std::optional<Replicas> load_desired;
    std::optional<Replicas> throughput_desired;
    std::optional<double> demand_rps;  // forecast requests/s
    std::optional<double> engine_rps;
    std::vector<ClampStage> clamps;  // stages that changed the proposal
};
struct Why {
    PerRole<std::optional<RoleWhy>> role;
};

struct ScaleTo {
    ProposalId proposal{};
    std::optional<Replicas> prefill;
    std::optional<Replicas> decode;
    Reason reason{};
    bool cancels = false;  // takes back capacity that is still pending: may supersede an open decision
    Why why;
};
struct TrafficWanted {
    Seconds window{0.0};
};
struct DiagnosticsReport {
    Diagnostics diagnostics;
    PerRole<std::optional<Replicas>> ready;
    PerRole<std::optional<Replicas>> expected;
    PerRole<std::optional<Replicas>> recommended;  // advisory: what would have been proposed
    // Where replicas cannot buy the target: what an empty engine takes at batch 1 (case A08).
    std::optional<Millis> best_reachable_ttft;
    std::optional<Millis> best_reachable_itl;
    std::vector<Hold> holds;
    bool ran_load = false;
    bool ran_throughput = false;
    // Counts since the start: what entered the models and what was set aside.
    std::int64_t fpm_observed = 0;
    std::int64_t fpm_repeated = 0;    // counter_id seen before
    std::int64_t fpm_outliers = 0;    // warm-up passes set aside
    std::int64_t fpm_ignored = 0;     // of a role that the mode does not have
    std::int64_t engines_stuck = 0;   // now
    std::int64_t engines_silent = 0;  // now
};
struct WakeAt {
    TimePoint at{};
};
struct ConfigRefused {  // a config event that could not be taken, with all its problems
    std::string message;
};

using EffectBody = std::variant<ScaleTo, TrafficWanted, DiagnosticsReport, WakeAt, ConfigRefused>;
struct Effect {
    TimePoint at{};
    EffectBody body;
};
using Effects = std::vector<Effect>;

}  // namespace dynaplan
