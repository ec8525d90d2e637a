#include "model/estimate.hpp"

#include <algorithm>

namespace dynaplan::model {

double clamp_kv_hit_rate(std::optional<double> rate) {
    constexpr double kv_hit_rate_max = 0.95;
    if (!rate || std::isnan(*rate)) return 0.0;
    return std::clamp(*rate, 0.0, kv_hit_rate_max);
}

std::optional<double> estimate_ttft(const Fit& fit, const TtftQuery& q) {
    if (!fit.accepted() || q.max_num_batched_tokens <= 0) return std::nullopt;
    return ttft_of(fit, q);
}

std::optional<double> estimate_itl_decode(const Fit& fit, double avg_num_decode, double kv_tokens,
                                          double avg_decode_len) {
    if (!fit.accepted()) return std::nullopt;
    return itl_of_decode(fit, avg_num_decode, kv_tokens, avg_decode_len);
}

std::optional<double> estimate_itl_agg(const Fit& fit, double avg_prefill_tokens, double kv_tokens,
                                       double avg_decode_len) {
    if (!fit.accepted()) return std::nullopt;
    return itl_of_agg(fit, avg_prefill_tokens, kv_tokens, avg_decode_len);
}

}  // namespace dynaplan::model
