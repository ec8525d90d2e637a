// How many requests per second one engine carries under the latency target, in steady state.
// Source: specification, traffic and profiles 3. A rate of 0 means "not ready". Latencies are returned in
// milliseconds.
#pragma once

#include <cstdint>
#include <optional>

#include "core/units.hpp"
#include "model/regression.hpp"

namespace dynaplan::model {

struct Capacity {
    double rps = 0.0;
    double ttft_ms = 0.0;
    double itl_ms = 0.0;
    bool sla_met =
        true;  // false: even the smallest load misses the target, and the rate is that of the smallest load
};

struct PrefillLoad {
    double isl = 0.0;          // tokens
    double kv_hit_rate = 0.0;  // clamped
    std::optional<std::int64_t> max_num_batched_tokens;
    Millis ttft_target{0.0};
};
[[nodiscard]] Capacity prefill_capacity(const Fit&, const PrefillLoad&);

struct DecodeLoad {
    double context_length = 0.0;  // tokens a request holds on average: isl + osl/2
    double osl = 0.0;
    std::optional<std::int64_t> max_kv_tokens;
    std::optional<std::int64_t> max_num_seqs;
    std::int64_t max_observed_kv = 0;
    Millis itl_target{0.0};
};
[[nodiscard]] Capacity decode_capacity(const Fit&, const DecodeLoad&);

struct AggLoad {
    double isl = 0.0;
    double osl = 0.0;
    double kv_hit_rate = 0.0;  // clamped
    double avg_isl = 0.0;      // the model's average, which joins the simulated queue
    std::optional<std::int64_t> max_num_batched_tokens;
    std::optional<std::int64_t> max_kv_tokens;
    std::optional<std::int64_t> max_num_seqs;
    Millis ttft_target{0.0};
    Millis itl_target{0.0};
};
// Bisects: an accepted model has no negative coefficient, so neither latency falls as the batch grows.
[[nodiscard]] Capacity agg_capacity(const Fit&, const AggLoad&);
// The reference's way, batch by batch up to the first miss; the same answer, kept to be measured and tested
// against.
[[nodiscard]] Capacity agg_capacity_swept(const Fit&, const AggLoad&);

}  // namespace dynaplan::model
