// Latency of the next request on an engine: TTFT by walking its queue in chunks, ITL from its batch and KV
// tokens. Source: specification, core semantics 4.5. Arguments in tokens and requests, results in seconds; a
// fit that was not accepted, or an unknown chunk size, gives nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "model/regression.hpp"

namespace dynaplan::model {

// A hit rate that can be divided by: within [0, 0.95]; absent or NaN is 0.
[[nodiscard]] double clamp_kv_hit_rate(std::optional<double>);

// Time until `tokens` prompt tokens are through, in passes of at most max_num_batched_tokens beside
// `decode_kv` KV tokens of decode work (0 for a prefill engine). No tokens take no time, or that of an empty
// pass where the fit says so (`estimate_floor`).
[[nodiscard]] double time_to_prefill(const Fit&, double tokens, std::int64_t max_num_batched_tokens,
                                     double decode_kv);

struct TtftQuery {
    double queued_prefill_tokens = 0.0;
    double avg_isl = 0.0;
    double kv_hit_rate = 0.0;  // clamped
    std::optional<std::int64_t> max_num_batched_tokens;
    double decode_kv = 0.0;  // scheduled decode KV tokens, aggregated engines only
};
[[nodiscard]] std::optional<double> estimate_ttft(const Fit&, const TtftQuery&);

// One more request joins the batch.
[[nodiscard]] std::optional<double> estimate_itl_decode(const Fit&, double avg_num_decode, double kv_tokens,
                                                        double avg_decode_len);
[[nodiscard]] std::optional<double> estimate_itl_agg(const Fit&, double avg_prefill_tokens, double kv_tokens,
                                                     double avg_decode_len);

}  // namespace dynaplan::model
