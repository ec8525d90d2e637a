// Latency of the next request on an engine: TTFT by walking its queue in chunks, ITL from its batch and KV
// tokens. Source: specification, core semantics 4.5. Arguments in tokens and requests, results in seconds.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "model/regression.hpp"

namespace dynaplan::model {

// A hit rate that can be divided by: within [0, 0.95]; absent or NaN is 0.
[[nodiscard]] double clamp_kv_hit_rate(std::optional<double>);

// ceil(chunks) - 1, the whole chunks before the last one, without a call where a whole number holds it.
[[nodiscard]] inline double chunks_before_last(double chunks) {
    constexpr double whole_limit = 0x1p62;
    if (!(chunks < whole_limit)) return std::ceil(chunks) - 1.0;
    const auto whole = static_cast<double>(static_cast<std::int64_t>(chunks));
    return whole < chunks ? whole : whole - 1.0;
}

// Time until `tokens` prompt tokens are through, in passes of at most max_num_batched_tokens beside
// `decode_kv` KV tokens of decode work (0 for a prefill engine). No tokens take no time, or that of an empty
// pass where the fit says so (`estimate_floor`). The full chunks are alike, so the walk over them has a
// closed form.
[[nodiscard]] inline double time_to_prefill(const Fit& fit, double tokens,
                                            std::int64_t max_num_batched_tokens, double decode_kv) {
    if (!(tokens > 0.0)) return fit.idle_costs_a_pass ? fit(0.0, decode_kv) : 0.0;
    const auto chunk = static_cast<double>(max_num_batched_tokens);
    const double full = chunks_before_last(tokens / chunk);
    return full * fit(chunk, decode_kv) + fit(tokens - full * chunk, decode_kv);
}

struct TtftQuery {
    double queued_prefill_tokens = 0.0;
    double avg_isl = 0.0;
    double kv_hit_rate = 0.0;                 // clamped
    std::int64_t max_num_batched_tokens = 0;  // 0: not known
    double decode_kv = 0.0;                   // scheduled decode KV tokens, aggregated engines only
};

// The arithmetic alone, for an accepted fit and a known chunk size. A tick asks these of every engine: an
// optional in between would be written in parts and read whole, which processors wait for.
[[nodiscard]] inline double ttft_of(const Fit& fit, const TtftQuery& q) {
    const double tokens = (q.queued_prefill_tokens + q.avg_isl) * (1.0 - q.kv_hit_rate);
    return time_to_prefill(fit, tokens, q.max_num_batched_tokens, q.decode_kv);
}
// One more request joins the batch.
[[nodiscard]] inline double itl_of_decode(const Fit& fit, double avg_num_decode, double kv_tokens,
                                          double avg_decode_len) {
    return fit(avg_num_decode + 1.0, kv_tokens + avg_decode_len);
}
[[nodiscard]] inline double itl_of_agg(const Fit& fit, double avg_prefill_tokens, double kv_tokens,
                                       double avg_decode_len) {
    return fit(avg_prefill_tokens, kv_tokens + avg_decode_len);
}

// The same where a fit that was not accepted, or an unknown chunk size, gives nothing.
[[nodiscard]] std::optional<double> estimate_ttft(const Fit&, const TtftQuery&);
[[nodiscard]] std::optional<double> estimate_itl_decode(const Fit&, double avg_num_decode, double kv_tokens,
                                                        double avg_decode_len);
[[nodiscard]] std::optional<double> estimate_itl_agg(const Fit&, double avg_prefill_tokens, double kv_tokens,
                                                     double avg_decode_len);

}  // namespace dynaplan::model
