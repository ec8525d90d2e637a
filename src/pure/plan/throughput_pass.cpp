#include "plan/throughput_pass.hpp"

#include <algorithm>
#include <cmath>

#include "model/capacity.hpp"
#include "model/estimate.hpp"

namespace dynaplan::plan {

namespace {

// Demand for shrinking, times the forecast. Counts of a window, mean lengths and the fitted line each move by
// a few percent from window to window under constant load.
constexpr double shrink_margin = 1.1;

}  // namespace

ThroughputPass::ThroughputPass(const PlannerConfig& c)
    : mode_{c.mode},
      enabled_{c.enable_throughput_scaling},
      sets_floor_{c.enable_load_scaling},
      carries_lengths_{c.policy.traffic_idle == TrafficIdle::carry_lengths},
      forecasts_hit_rate_{c.policy.hit_rate == HitRate::forecast},
      classify_{c.policy.traffic_unknown == TrafficUnknown::hold ? classify_strict : classify_reference},
      ttft_{c.ttft},
      itl_{c.itl},
      idle_after_{static_cast<double>(c.policy.idle_windows) * c.throughput_adjustment_interval},
      hold_unknown_{c.policy.traffic_unknown == TrafficUnknown::hold},
      relaxes_unreachable_{c.policy.unreachable_sla == UnreachableSla::ignore},
      num_req_{forecast::make_predictor(c)},
      isl_{forecast::make_predictor(c)},
      osl_{forecast::make_predictor(c)},
      kv_hit_rate_{forecast::make_predictor(c)} {}

void ThroughputPass::reconfigure(const PlannerConfig& c) {
    ttft_ = c.ttft;
    itl_ = c.itl;
}

void ThroughputPass::warm(std::span<const Traffic> observations) {
    for (const Traffic& t : observations) {
        num_req_->add(t.num_req);
        isl_->add(t.isl);
        osl_->add(t.osl);
    }
    for (auto* p : {&num_req_, &isl_, &osl_, &kv_hit_rate_}) (*p)->reset_idle_skip();
}

ThroughputPass::Verdict ThroughputPass::classify_reference(const Reading<Traffic>& r) {
    if (r.is_unknown()) return Verdict::unknown;
    return r.is_idle() ? Verdict::idle : Verdict::take;
}

// Something that is not a count, or busy traffic without lengths, is no reading.
ThroughputPass::Verdict ThroughputPass::classify_strict(const Reading<Traffic>& r) {
    if (r.is_unknown()) return Verdict::unknown;
    if (r.is_idle()) return Verdict::idle;
    const Traffic& t = r.value();
    const auto sound = [](double x) { return std::isfinite(x) && x >= 0.0; };
    if (!sound(t.num_req)) return Verdict::unknown;
    if (t.num_req == 0.0) return Verdict::idle;
    return sound(t.isl) && sound(t.osl) ? Verdict::take : Verdict::unknown;
}

void ThroughputPass::observe(const Reading<Traffic>& reading, Seconds window, bool throughput_tick) {
    const Verdict verdict = classify_(reading);
    arrivals_ = verdict == Verdict::take && reading.value().num_req > 0.0;
    if (verdict == Verdict::take && reading.value().kv_hit_rate &&
        !std::isnan(*reading.value().kv_hit_rate)) {
        // With a forecast of its own the hit rate goes to its predictor; else the last one is used as it is.
        if (enabled_ && forecasts_hit_rate_) {
            kv_hit_rate_->add(*reading.value().kv_hit_rate);
        } else {
            last_kv_hit_rate_ = reading.value().kv_hit_rate;
        }
    }
    idle_time_ = verdict == Verdict::idle ? idle_time_ + window : Seconds{0.0};
    last_isl_.reset();
    if (verdict == Verdict::take && reading.value().isl > 0.0) last_isl_ = reading.value().isl;
    if (!enabled_ || !throughput_tick) return;
    unknown_ = hold_unknown_ && verdict == Verdict::unknown;
    if (verdict == Verdict::take) {
        num_req_->add(reading.value().num_req);
        isl_->add(reading.value().isl);
        osl_->add(reading.value().osl);
    } else if (verdict == Verdict::idle) {
        num_req_->add(0.0);
        if (!carries_lengths_) {
            isl_->add(0.0);
            osl_->add(0.0);
        }
    }
}

std::optional<ThroughputPass::Forecast> ThroughputPass::forecast(Diagnostics& out) {
    const Result<double> num_req = num_req_->predict();
    const Result<double> isl = isl_->predict();
    const Result<double> osl = osl_->predict();
    if (!num_req || !isl || !osl) return std::nullopt;
    out.predicted_num_req = *num_req;
    out.predicted_isl = *isl;
    out.predicted_osl = *osl;
    return Forecast{*num_req, *isl, *osl};
}

void ThroughputPass::forecast_hit_rate(Diagnostics& out) {
    forecast_kv_hit_rate_ = last_kv_hit_rate_;
    if (forecasts_hit_rate_) {
        const Result<double> rate = kv_hit_rate_->predict();
        forecast_kv_hit_rate_ = rate ? std::optional{*rate} : std::nullopt;
        if (rate && !std::isnan(*rate)) last_kv_hit_rate_ = *rate;
    }
    out.predicted_kv_hit_rate = forecast_kv_hit_rate_;
}

ThroughputProposal ThroughputPass::run(const Reading<Traffic>& reading, Seconds window, TimePoint now,
                                       const PerRole<RoleFacts>& roles, Diagnostics& out) {
    ThroughputProposal p;
    now_ = now;
    const Verdict verdict = classify_(reading);
    if (!enabled_) {
        if (verdict != Verdict::unknown) p.reason = Reason::disabled;
        return p;
    }
    if (verdict == Verdict::unknown) {
        if (hold_unknown_) p.reason = Reason::traffic_unknown;
        return p;
    }
    const std::optional<Forecast> next = forecast(out);
    if (!next) {
        p.reason = Reason::predict_failed;
        return p;
    }
    const Seconds duration = reading.is_known() ? reading.value().duration : window;
    if (!(duration > Seconds{0.0})) {
        p.reason = Reason::no_traffic_data;
        return p;
    }
    p.demand_rps = next->num_req / duration.count();
    forecast_hit_rate(out);
    if (idle() && carries_lengths_) {  // known to be idle: demand is 0, whatever the forecast still says
        p.demand_rps = 0.0;
        p.decided = true;
        p.reason = sets_floor_ ? Reason::set_lower_bound : Reason::scale;
        for (const Role role : all_roles) {
            if (has_role(mode_, role)) p.replicas[role] = p.with_margin[role] = roles[role].minimum;
        }
        return p;
    }
    if (mode_ == Mode::disagg) {
        fill_pair(*next, roles, p, out);
    } else {
        fill_single(mode_ == Mode::prefill ? Role::prefill : Role::decode, *next, roles, p, out);
    }
    return p;
}

// Under `unreachable_sla: ignore` a target that an empty engine misses at batch 1 is no reason to ask for one
// replica per request (case A08): the engine is filled until the load adds a whole target to what the empty
// engine takes.
double ThroughputPass::capacity(Role role, const Forecast& f, const RoleFacts& facts) const {
    const Millis target = role == Role::prefill ? ttft_ : itl_;
    model::Fit fit = facts.models->fleet().fit();
    // Where only loaded passes were seen, the floor of the fit must not make the target look unreachable.
    fit.floor = std::min(fit.floor, std::chrono::duration<double>(target).count());
    const double hit_rate = model::clamp_kv_hit_rate(forecast_kv_hit_rate_);
    const Capabilities& caps = facts.capabilities;
    if (mode_ == Mode::agg) {
        model::AggLoad load{f.isl,
                            f.osl,
                            hit_rate,
                            facts.models->fleet().avg_isl(now_),
                            caps.max_num_batched_tokens,
                            caps.max_kv_tokens,
                            caps.max_num_seqs,
                            ttft_,
                            itl_};
        const model::Capacity c = model::agg_capacity(fit, load);
        if (c.sla_met || !relaxes_unreachable_) return c.rps;
        if (c.ttft_ms > ttft_.count()) load.ttft_target = ttft_ + Millis{c.ttft_ms};
        if (c.itl_ms > itl_.count()) load.itl_target = itl_ + Millis{c.itl_ms};
        return model::agg_capacity(fit, load).rps;
    }
    if (role == Role::prefill) {
        return model::prefill_capacity(fit, {f.isl, hit_rate, caps.max_num_batched_tokens, ttft_}).rps;
    }
    model::DecodeLoad load{f.isl + f.osl / 2.0,
                           f.osl,
                           caps.max_kv_tokens,
                           caps.max_num_seqs,
                           facts.models->fleet().max_observed_kv(),
                           itl_};
    const model::Capacity c = model::decode_capacity(fit, load);
    if (c.sla_met || !relaxes_unreachable_) return c.rps;
    load.itl_target = itl_ + Millis{c.itl_ms};
    return model::decode_capacity(fit, load).rps;
}

std::optional<Replicas> replicas_for(double demand_rps, double engine_rps, Replicas minimum) {
    constexpr double most = 9.0e18;
    const double n = std::ceil(demand_rps / engine_rps);
    if (!std::isfinite(n) || n > most) return std::nullopt;
    return std::max(Replicas{static_cast<std::int64_t>(n)}, minimum);
}

void ThroughputPass::fill_single(Role role, const Forecast& f, const PerRole<RoleFacts>& roles,
                                 ThroughputProposal& p, Diagnostics& out) const {
    const double rps = capacity(role, f, roles[role]);
    if (!(rps > 0.0)) {
        p.reason = Reason::model_not_ready;
        return;
    }
    out.engine_rps[role] = rps;
    if (mode_ == Mode::agg) out.engine_rps = {rps, rps};
    p.replicas[role] = replicas_for(*p.demand_rps, rps, roles[role].minimum);
    p.with_margin[role] = replicas_for(*p.demand_rps * shrink_margin, rps, roles[role].minimum);
    p.decided = p.replicas[role].has_value();
    p.reason = !p.decided ? Reason::input_not_finite : sets_floor_ ? Reason::set_lower_bound : Reason::scale;
}

void ThroughputPass::fill_pair(const Forecast& f, const PerRole<RoleFacts>& roles, ThroughputProposal& p,
                               Diagnostics& out) const {
    PerRole<bool> ready;
    bool finite = true;
    for (const Role role : all_roles) {
        const double rps = capacity(role, f, roles[role]);
        ready[role] = rps > 0.0;
        if (!ready[role]) continue;
        out.engine_rps[role] = rps;
        p.replicas[role] = replicas_for(*p.demand_rps, rps, roles[role].minimum);
        p.with_margin[role] = replicas_for(*p.demand_rps * shrink_margin, rps, roles[role].minimum);
        finite = finite && p.replicas[role].has_value();
    }
    if (!ready.prefill || !ready.decode) {
        p.reason = Reason::model_not_ready;
        for (const Role role : all_roles) {
            p.reason_of[role] = ready[role] ? Reason::partner_not_ready : Reason::model_not_ready;
        }
        return;
    }
    p.decided = finite;
    p.reason = !finite ? Reason::input_not_finite : sets_floor_ ? Reason::set_lower_bound : Reason::scale;
    p.reason_of = {p.reason, p.reason};
}

}  // namespace dynaplan::plan
