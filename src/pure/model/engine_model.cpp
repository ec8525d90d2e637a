#include "model/engine_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dynaplan::model {

namespace {

// Averages that a kind of model does not keep get no room.
Average average_for(const ModelSettings& s, bool kept) {
    return Average::of(s.averages, kept ? s.window : 1, s.averages_window);
}

double ratio(std::int64_t a, std::int64_t b) { return static_cast<double>(a) / static_cast<double>(b); }

struct Features {
    std::int64_t x0;
    std::int64_t x1;
};

Features features(ModelKind kind, const ScheduledRequests& s) {
    switch (kind) {
        case ModelKind::prefill: return {s.sum_prefill_tokens, 0};
        case ModelKind::decode: return {s.num_decode_requests, s.sum_decode_kv_tokens};
        case ModelKind::agg: return {s.sum_prefill_tokens, s.sum_decode_kv_tokens};
    }
    return {0, 0};
}

}  // namespace

EngineModel::EngineModel(const ModelSettings& s)
    : kind_{s.kind},
      timed_{s.averages == Averages::timed},
      window_{s.averages_window},
      regression_{s},
      isl_{average_for(s, s.kind != ModelKind::decode)},
      num_prefill_{average_for(s, s.kind != ModelKind::decode)},
      decode_len_{average_for(s, s.kind != ModelKind::prefill)},
      num_decode_{average_for(s, s.kind != ModelKind::prefill)},
      prefill_tokens_{average_for(s, s.kind == ModelKind::agg)},
      prefill_flow_{s.averages_window} {}

void EngineModel::observe(const ForwardPass& pass, TimePoint now, bool set_aside) {
    if (timed_ && is_idle_heartbeat(pass)) return;  // timed averages age by themselves
    const ScheduledRequests& s = pass.scheduled;
    if (kind_ != ModelKind::decode) {
        if (s.num_prefill_requests > 0) isl_.add(ratio(s.sum_prefill_tokens, s.num_prefill_requests), now);
        num_prefill_.add(static_cast<double>(s.num_prefill_requests), now);
        if (timed_) {
            prefill_flow_.add(static_cast<double>(s.sum_prefill_tokens), now);
            if (!first_pass_at_) first_pass_at_ = now;
        }
    }
    if (kind_ != ModelKind::prefill) {
        if (s.num_decode_requests > 0)
            decode_len_.add(ratio(s.sum_decode_kv_tokens, s.num_decode_requests), now);
        num_decode_.add(static_cast<double>(s.num_decode_requests), now);
        max_observed_kv_ = std::max(max_observed_kv_, s.sum_decode_kv_tokens);
    }
    if (kind_ == ModelKind::agg) prefill_tokens_.add(static_cast<double>(s.sum_prefill_tokens), now);

    if (pass.wall_time == 0.0 || set_aside) return;
    const Features x = features(kind_, s);
    regression_.add(x.x0, x.x1, pass.wall_time);
}

double EngineModel::predict(const ForwardPass& pass) const {
    const Features x = features(kind_, pass.scheduled);
    return fit()(static_cast<double>(x.x0), static_cast<double>(x.x1));
}

void EngineModel::age(AgeingAverages& a, TimePoint now) const {
    if (kind_ != ModelKind::prefill) {
        a.num_decode = num_decode_.ageing_value(now);
        a.decode_len = decode_len_.ageing_value(now);
    }
    if (kind_ == ModelKind::agg) a.prefill_tokens = prefill_tokens_.ageing_value(now);
    if (first_pass_at_) {
        a.prefill_flow = prefill_flow_.ageing_sum(now);
        a.first_pass_at = first_pass_at_;
    }
    if (now < a.turn) return;
    if (timed_) {
        const Seconds slice = window_ / static_cast<double>(TimedAverage::slices);
        a.turn = TimePoint{std::floor((now - TimePoint{}) / slice) * slice + slice};
        a.end = a.turn + slice;
    } else {
        a.turn = a.end = at_seconds(std::numeric_limits<double>::infinity());
    }
}

double EngineModel::token_rate(double tokens, TimePoint first, Seconds window, TimePoint now) {
    // A slice of the window may have left already: the flow is then spread over what remains.
    const Seconds covered = std::min(now - first, TimedAverage::covered(window, now));
    constexpr Seconds shortest{1.0};
    return tokens / std::max(covered, shortest).count();
}

}  // namespace dynaplan::model
