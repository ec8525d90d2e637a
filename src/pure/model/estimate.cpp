#include "model/estimate.hpp"

#include <algorithm>
#include <cmath>

namespace dynaplan::model {

double clamp_kv_hit_rate(std::optional<double> rate) {
    constexpr double kv_hit_rate_max = 0.95;
    if (!rate || std::isnan(*rate)) return 0.0;
    return std::clamp(*rate, 0.0, kv_hit_rate_max);
}

// The full chunks are alike, so the walk over them has a closed form.
double time_to_prefill(const Fit& fit, double tokens, std::int64_t max_num_batched_tokens, double decode_kv) {
    if (!(tokens > 0.0)) return fit.idle_costs_a_pass ? fit(0.0, decode_kv) : 0.0;
    const auto chunk = static_cast<double>(max_num_batched_tokens);
    if (tokens <= chunk) return fit(tokens, decode_kv);
    const double full = std::ceil(tokens / chunk) - 1.0;
    return full * fit(chunk, decode_kv) + fit(tokens - full * chunk, decode_kv);
}

std::optional<double> estimate_ttft(const Fit& fit, const TtftQuery& q) {
    if (!fit.accepted() || !q.max_num_batched_tokens || *q.max_num_batched_tokens <= 0) return std::nullopt;
    const double tokens = (q.queued_prefill_tokens + q.avg_isl) * (1.0 - q.kv_hit_rate);
    return time_to_prefill(fit, tokens, *q.max_num_batched_tokens, q.decode_kv);
}

std::optional<double> estimate_itl_decode(const Fit& fit, double avg_num_decode, double kv_tokens,
                                          double avg_decode_len) {
    if (!fit.accepted()) return std::nullopt;
    return fit(avg_num_decode + 1.0, kv_tokens + avg_decode_len);
}

std::optional<double> estimate_itl_agg(const Fit& fit, double avg_prefill_tokens, double kv_tokens,
                                       double avg_decode_len) {
    if (!fit.accepted()) return std::nullopt;
    return fit(avg_prefill_tokens, kv_tokens + avg_decode_len);
}

}  // namespace dynaplan::model
