// The latencies that load scaling judges: TTFT of prefill work, ITL of decode work, each per engine.
//
// A signal answers for one engine at a share of its present load: 1 is now, n/(n-1) is what a survivor of a
// scale-down would carry, 0 is an empty engine at batch 1. Milliseconds; nothing where no model answers.
#pragma once

#include <optional>
#include <span>

#include "core/policy.hpp"
#include "core/tick.hpp"
#include "model/role_model.hpp"

namespace dynaplan::plan {

// Everything an estimate reads besides the engine itself.
struct SignalInput {
    const model::RoleModel* models = nullptr;
    const Capabilities* capabilities = nullptr;  // of the role, where the engine has none of its own
    double kv_hit_rate = 0.0;                    // clamped
    double isl = 0.0;                            // tokens of the next prompt
    TimePoint now{};

    // The next prompt is as long as the traffic's where that is known, else as the fleet's average share of a
    // pass.
    static SignalInput of(const model::RoleModel&, const Capabilities&, double kv_hit_rate,
                          std::optional<double> traffic_isl, TimePoint now);
};

using Estimate = std::optional<double> (*)(const SignalInput&, const EngineObservation&, double load);

// The estimates of many engines, milliseconds: of how many, and between what.
struct EstimateRange {
    std::int64_t engines = 0;
    double largest = 0.0;
    double smallest = 0.0;
};
using EstimateAll = EstimateRange (*)(const SignalInput&, std::span<const EngineObservation* const>,
                                      double load);

enum class Latency : std::uint8_t { ttft, itl };

struct Signal {
    Latency latency{};
    Estimate estimate = nullptr;
    EstimateAll estimate_all = nullptr;
    bool needs_batched_tokens = false;
};

extern const Signal prefill_ttft;
extern const Signal agg_ttft;
extern const Signal decode_itl;
extern const Signal agg_itl;

}  // namespace dynaplan::plan
