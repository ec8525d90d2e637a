// Section 8 of the twin, the capacities of one engine (traffic and profiles 3) and the budgets (section 9).
#include <algorithm>
#include <cmath>

#include "reference/twin.hpp"

namespace dynaplan::reference {

Twin::Series::Series(const PlannerConfig& c)
    : kalman_{c.load_predictor == LoadPredictor::kalman}, measured_noise_{std::max(1e-9, c.kalman_r)} {
    noise_(0, 0) = std::max(1e-12, c.kalman_q_level);
    noise_(1, 1) = std::max(1e-12, c.kalman_q_trend);
}

void Twin::Series::predict() {
    Eigen::Matrix2d step;
    step << 1.0, 1.0, 0.0, 1.0;
    state_ = step * state_;
    covariance_ = step * covariance_ * step.transpose() + noise_;
    predicted_ = true;
}

void Twin::Series::add(double value) {
    if (std::isnan(value)) value = 0.0;
    if (value == 0.0 && !seen_) return;
    if (!seen_) {
        state_ = {value, 0.0};
    } else {
        if (!predicted_) predict();
        const Eigen::RowVector2d level{1.0, 0.0};
        const Eigen::Vector2d gain = covariance_.col(0) / (covariance_(0, 0) + measured_noise_);
        const Eigen::Matrix2d rest = Eigen::Matrix2d::Identity() - gain * level;
        state_ += gain * (value - state_(0));
        covariance_ = rest * covariance_ * rest.transpose() + measured_noise_ * gain * gain.transpose();
    }
    seen_ = true;
    predicted_ = false;
    last_ = value;
}

double Twin::Series::forecast() {
    if (!kalman_ || !seen_) return last_;
    if (!predicted_) predict();
    return state_(0);
}

std::optional<ScalingTarget> Twin::throughput(const Traffic& t, Diagnostics& d) {
    std::optional<Reason>& reason = d.throughput_decision_reason;
    if (!c_.enable_throughput_scaling) {
        reason = Reason::disabled;
        return std::nullopt;
    }
    const double num_req = num_req_.forecast();
    const double isl = isl_.forecast();
    const double osl = osl_.forecast();
    d.predicted_num_req = num_req;
    d.predicted_isl = isl;
    d.predicted_osl = osl;
    if (t.duration.count() <= 0.0) {
        reason = Reason::no_traffic_data;
        return std::nullopt;
    }
    const double demand = num_req / t.duration.count();
    forecast_hit_rate_ = last_hit_rate_ = d.predicted_kv_hit_rate = hit_.forecast();

    PerRole<double> rps;
    if (c_.mode == Mode::agg) {
        rps.decode = agg_rps(isl, osl);
    } else {
        if (has_prefill(c_.mode)) rps.prefill = prefill_rps(isl);
        if (has_decode(c_.mode)) rps.decode = decode_rps(isl, osl);
    }
    PerRole<std::optional<Count>> replicas;
    bool all_ready = true;
    for (const Role role : all_roles) {
        if (!has_role(c_.mode, role)) continue;
        if (!(rps[role] > 0.0)) {
            all_ready = false;
            continue;
        }
        d.engine_rps[role] = rps[role];
        edges_.look_at_whole(demand / rps[role]);
        replicas[role] = std::max(static_cast<Count>(std::ceil(demand / rps[role])), c_.min_endpoint);
    }
    if (c_.mode == Mode::agg && rps.decode > 0.0) d.engine_rps.prefill = rps.decode;
    if (!all_ready) {
        reason = Reason::model_not_ready;
        if (c_.mode == Mode::disagg) {
            for (const Role role : all_roles)
                d.throughput_decision_reason_of[role] =
                    rps[role] > 0.0 ? Reason::partner_not_ready : Reason::model_not_ready;
        }
        return std::nullopt;
    }
    reason = c_.enable_load_scaling ? Reason::set_lower_bound : Reason::scale;
    if (c_.mode == Mode::disagg) d.throughput_decision_reason_of = {reason, reason};
    if (c_.enable_load_scaling) {
        for (const Role role : all_roles) floor_[role] = replicas[role].value_or(floor_[role]);
        return std::nullopt;
    }
    ScalingTarget result;
    if (c_.mode == Mode::disagg) {
        const auto [p, q] = global_budget(*replicas.prefill, *replicas.decode);
        result = {Replicas{p}, Replicas{q}};
    } else {
        const Role role = c_.mode == Mode::prefill ? Role::prefill : Role::decode;
        result[role] = Replicas{single_budget(*replicas[role], caps_[role].num_gpu)};
    }
    return result;
}

double Twin::prefill_rps(double isl) {
    const auto line = prefill_.fit(edges_);
    const double x = isl * (1.0 - hit_rate(forecast_hit_rate_));
    if (!line || x <= 0.0) return 0.0;
    const Count chunk = caps_.prefill.max_num_batched_tokens.value_or(0);
    return 1.0 / (chunk > 0 ? walk(*line, x, static_cast<double>(chunk), 0.0) : line->wall(x, 0.0));
}

// The largest batch within the target, tried one by one.
double Twin::decode_rps(double isl, double osl) {
    const auto line = decode_.fit(edges_);
    const double context = isl + osl / 2.0;
    if (!line || context <= 0.0 || osl <= 0.0 || c_.itl.count() <= 0.0) return 0.0;
    Count cap = 256;
    if (const Count known = caps_.decode.max_kv_tokens.value_or(0); known > 0) {
        cap = std::max<Count>(1, static_cast<Count>(static_cast<double>(known) / context));
    } else if (decode_.max_observed_kv > 0) {
        cap = std::max<Count>(1, static_cast<Count>(static_cast<double>(decode_.max_observed_kv) / context));
    }
    if (const Count seqs = caps_.decode.max_num_seqs.value_or(0); seqs != 0)
        cap = std::max<Count>(1, std::min(cap, seqs));
    double rps = 0.0;
    for (Count b = 1; b <= cap; ++b) {
        const auto batch = static_cast<double>(b);
        const double wall = line->wall(batch, batch * context);
        edges_.look(1000.0 * wall, c_.itl.count());
        const bool good = 1000.0 * wall <= c_.itl.count();
        if (good || b == 1) rps = batch / (osl * wall);
        if (!good) break;
    }
    return rps;
}

double Twin::agg_rps(double isl, double osl) {
    const auto line = decode_.fit(edges_);
    const Count chunk = caps_.decode.max_num_batched_tokens.value_or(0);
    if (!line || chunk <= 0 || isl <= 0.0 || osl <= 0.0) return 0.0;
    const auto mbt = static_cast<double>(chunk);
    const double share = 1.0 - hit_rate(forecast_hit_rate_);
    const double x = isl * share;
    const double context = isl + osl / 2.0;
    Count hard = 1024;
    if (const Count known = caps_.decode.max_kv_tokens.value_or(0); known != 0)
        hard = std::max<Count>(1, static_cast<Count>(static_cast<double>(known) / std::max(1.0, context)));
    if (const Count seqs = caps_.decode.max_num_seqs.value_or(0); seqs != 0) hard = std::min(hard, seqs);
    hard = std::min(hard, chunk - 1);
    Count balanced = 1;
    for (Count b = 1; b <= std::max<Count>(1, hard); ++b) {
        if (chunk - b > 0 && x / static_cast<double>(chunk - b) <= osl) balanced = b;
    }
    double rps = 0.0;
    for (Count b = 1; b <= balanced; ++b) {
        const auto batch = static_cast<double>(b);
        const double kv = batch * context;
        const double wall = line->wall(std::min(batch * x / std::max(1.0, osl), mbt), kv);
        const double queued = std::trunc(std::min(batch * isl / std::max(1.0, osl), mbt));
        const double ttft = walk(*line, (queued + decode_.isl.value()) * share, mbt, std::trunc(kv));
        edges_.look(1000.0 * wall, c_.itl.count());
        edges_.look(1000.0 * ttft, c_.ttft.count());
        const bool good = 1000.0 * wall <= c_.itl.count() && 1000.0 * ttft <= c_.ttft.count();
        if (good || b == 1) rps = batch / (osl * wall);
        if (!good) break;
    }
    return rps;
}

Twin::Count Twin::single_budget(Count desired, std::optional<Gpus> each) const {
    if (!each) return desired;
    const Count g = each->count();
    const Count budget = c_.max_gpu_budget;
    const Count x = std::max(desired, c_.min_endpoint);
    if (budget < 0 || x * g <= budget) return x;
    if (budget < c_.min_endpoint * g) return 0;
    return std::max(c_.min_endpoint, budget / g);
}

std::pair<Twin::Count, Twin::Count> Twin::global_budget(Count prefill, Count decode) const {
    if (!caps_.prefill.num_gpu || !caps_.decode.num_gpu) return {prefill, decode};
    const Count g_p = caps_.prefill.num_gpu->count();
    const Count g_d = caps_.decode.num_gpu->count();
    const Count budget = c_.max_gpu_budget;
    const Count least = c_.min_endpoint;
    const Count total = prefill * g_p + decode * g_d;
    if (budget < 0 || total <= budget) return {prefill, decode};
    if (budget < least * (g_p + g_d)) return {0, 0};
    const double share = static_cast<double>(budget) / static_cast<double>(total);
    const Count p_max = (budget - least * g_d) / g_p;
    const auto p_share = static_cast<Count>(std::floor(static_cast<double>(prefill) * share));
    const Count p = std::max(least, std::min(p_max, p_share));
    return {p, std::max(least, (budget - p * g_p) / g_d)};
}

}  // namespace dynaplan::reference
