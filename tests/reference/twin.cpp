#include "reference/twin.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace dynaplan::reference {

namespace {

using Count = std::int64_t;

TwinModel::Kind decode_kind(const PlannerConfig& c) {
    return c.mode == Mode::agg ? TwinModel::Kind::agg : TwinModel::Kind::decode;
}

std::optional<ScalingTarget> target(std::optional<Count> prefill, std::optional<Count> decode) {
    ScalingTarget t;
    if (prefill) t.prefill = Replicas{*prefill};
    if (decode) t.decode = Replicas{*decode};
    return t;
}

}  // namespace

Twin::Twin(const PlannerConfig& c, const PerRole<Capabilities>& caps)
    : c_{c},
      caps_{caps},
      prefill_{TwinModel::Kind::prefill, c},
      decode_{decode_kind(c), c},
      num_req_{c},
      isl_{c},
      osl_{c},
      hit_{c} {}

void Twin::bootstrap(Role role, const std::vector<ForwardPass>& passes) {
    if (c_.easy()) return;
    for (const ForwardPass& p : passes) model(role).observe(p);
}

// Section 2.
ScheduledTick Twin::initial_tick(TimePoint start) {
    next_load_ = seconds_of(start) + c_.load_adjustment_interval.count();
    if (c_.enable_throughput_scaling)
        next_tp_ = seconds_of(start) + c_.throughput_adjustment_interval.count();
    return next_tick();
}

ScheduledTick Twin::next_tick() const {
    const double at = std::min(next_load_, next_tp_);
    ScheduledTick t;
    t.at = at_seconds(at);
    t.run_load = next_load_ <= at + 0.5;
    t.run_throughput = next_tp_ <= at + 0.5;
    t.need_fpm = t.run_load;
    t.need_traffic = t.run_throughput || !c_.enable_throughput_scaling;
    if (t.need_traffic)
        t.traffic_duration =
            t.run_throughput ? c_.throughput_adjustment_interval : c_.load_adjustment_interval;
    return t;
}

// Section 3.
TwinAnswer Twin::on_tick(const ScheduledTick& tick, const TickInput& in) {
    TwinAnswer answer;
    if (in.worker_counts) {
        for (const Role role : all_roles) {
            if (in.worker_counts->ready[role]) ready_[role] = in.worker_counts->ready[role]->count();
            expected_[role].reset();
            if (in.worker_counts->expected[role]) expected_[role] = in.worker_counts->expected[role]->count();
        }
    }
    const Traffic* traffic = in.traffic ? &in.traffic->value() : nullptr;
    std::optional<ScalingTarget> from_throughput;
    std::optional<ScalingTarget> from_load;
    const double now = seconds_of(in.now);
    if (tick.run_throughput) {
        if (traffic != nullptr) {
            observe_traffic(*traffic);
            from_throughput = throughput(*traffic, answer.diagnostics);
        }
        next_tp_ = now + c_.throughput_adjustment_interval.count();
    }
    if (tick.run_load) {
        if (!tick.run_throughput && traffic != nullptr) observe_traffic(*traffic);
        if (in.fpm) {
            if (!c_.easy()) {
                for (const Role role : all_roles) {
                    if (!has_role(c_.mode, role)) continue;
                    for (const EngineObservation& e : (*in.fpm)[role]) model(role).observe(e.pass);
                }
            }
            from_load = load(*in.fpm, answer.diagnostics);
        }
        next_load_ = now + c_.load_adjustment_interval.count();
    }
    answer.scale_to = from_load ? from_load : from_throughput;
    answer.diagnostics.throughput_lower_bound = {Replicas{floor_.prefill}, Replicas{floor_.decode}};
    answer.next_tick = next_tick();
    return answer;
}

void Twin::observe_traffic(const Traffic& t) {
    const bool has_rate = t.kv_hit_rate && !std::isnan(*t.kv_hit_rate);
    if (c_.enable_throughput_scaling) {
        num_req_.add(t.num_req);
        isl_.add(t.isl);
        osl_.add(t.osl);
        if (has_rate) hit_.add(*t.kv_hit_rate);
    } else if (has_rate) {
        last_hit_rate_ = t.kv_hit_rate;
    }
}

double Twin::hit_rate(std::optional<double> rate) const {
    return rate && !std::isnan(*rate) ? std::clamp(*rate, 0.0, 0.95) : 0.0;
}

// Section 5, load scaling's entrance.
std::optional<ScalingTarget> Twin::load(const FpmSnapshot& fpm, Diagnostics& d) {
    if (!c_.enable_load_scaling) {
        d.load_decision_reason = Reason::disabled;
        return std::nullopt;
    }
    if (c_.mode == Mode::disagg) return load_disagg(fpm, d);
    if (c_.mode == Mode::agg && !c_.easy()) return load_agg(fpm, d);
    return load_single(fpm, c_.mode == Mode::prefill ? Role::prefill : Role::decode, d);
}

bool Twin::reconciled(Engines engines, Count ready) {
    std::map<WorkerIndex, Count> ranks;
    for (const EngineObservation& e : engines) ++ranks[e.worker];
    if (static_cast<Count>(ranks.size()) != ready) return false;
    for (const auto& [worker, n] : ranks) {
        if (n != ranks.begin()->second) return false;
    }
    return ranks.empty() || static_cast<Count>(engines.size()) == ready * ranks.begin()->second;
}

bool Twin::in_progress(Role role) const { return expected_[role] && *expected_[role] != ready_[role]; }

Twin::Opinion Twin::sla(const std::vector<double>& ms, Count ready, double target_ms,
                        std::optional<Millis>& shown) {
    if (ms.empty()) return {};
    const double threshold = target_ms * (static_cast<double>(c_.load_scaling_down_sensitivity) / 100.0);
    bool all_above = true;
    bool all_below = true;
    for (const double e : ms) {
        edges_.look(e, target_ms);
        edges_.look(e, threshold);
        all_above = all_above && e > target_ms;
        all_below = all_below && e < threshold;
        if (!shown || e > shown->count()) shown = Millis{e};
    }
    if (all_above) return {ready + 1, Reason::scale_up};
    if (ready > 1 && all_below) return {std::max(ready - 1, c_.min_endpoint), Reason::scale_down};
    return {std::nullopt, Reason::no_change};
}

Twin::Opinion Twin::easy(Role role, Engines engines) {
    const Count n = ready_[role];
    const bool latency = c_.optimization_target == OptimizationTarget::latency;
    const auto capability = role == Role::prefill ? caps_.prefill.context_length : caps_.decode.max_kv_tokens;
    if (n <= 0 || capability.value_or(0) == 0) return {};
    bool any_up = false;
    bool all_down = true;
    for (const EngineObservation& e : engines) {
        Count tokens = 0;
        if (role == Role::prefill || c_.mode == Mode::agg) tokens += e.pass.queued.sum_prefill_tokens;
        if (role == Role::decode)
            tokens += e.pass.scheduled.sum_decode_kv_tokens + e.pass.queued.sum_decode_kv_tokens;
        const double value = static_cast<double>(tokens) / static_cast<double>(*capability);
        if (role == Role::prefill) {
            any_up = any_up || value >= (latency ? 0.1 : 1.0);
            all_down = all_down && (latency ? value <= 0.0 : value < 0.1);
        } else {
            any_up = any_up || value > (latency ? 0.4 : 1.0);
            all_down = all_down && value < (latency ? 0.1 : 0.6);
        }
    }
    if (any_up) return {n + 1, Reason::scale_up};
    if (n > 1 && all_down) return {std::max(n - 1, c_.min_endpoint), Reason::scale_down};
    return {std::nullopt, Reason::no_change};
}

// 4.5
double Twin::walk(const Line& line, double tokens, double chunk, double kv) {
    if (tokens <= 0.0) return 0.0;
    edges_.look_at_whole(tokens / chunk);
    double seconds = 0.0;
    for (double left = tokens; left > 0.0; left -= chunk) seconds += line.wall(std::min(left, chunk), kv);
    return seconds;
}

std::vector<double> Twin::ttft_ms(Role role, Engines engines) {
    std::vector<double> ms;
    const auto line = model(role).fit(edges_);
    const Count chunk = caps_[role].max_num_batched_tokens.value_or(0);
    if (!line || chunk <= 0) return ms;
    for (const EngineObservation& e : engines) {
        const double tokens =
            (static_cast<double>(e.pass.queued.sum_prefill_tokens) + model(role).isl.value()) *
            (1.0 - hit_rate(last_hit_rate_));
        const double kv =
            role == Role::decode ? static_cast<double>(e.pass.scheduled.sum_decode_kv_tokens) : 0.0;
        ms.push_back(1000.0 * walk(*line, tokens, static_cast<double>(chunk), kv));
    }
    return ms;
}

std::vector<double> Twin::itl_ms(Role role, Engines engines) {
    std::vector<double> ms;
    const auto line = model(role).fit(edges_);
    if (!line) return ms;
    for (const EngineObservation& e : engines) {
        const double x0 =
            c_.mode == Mode::agg ? decode_.prefill_tokens.value() : decode_.decode_requests.value() + 1.0;
        const double kv = static_cast<double>(e.pass.scheduled.sum_decode_kv_tokens) +
                          static_cast<double>(e.pass.queued.sum_decode_kv_tokens) +
                          decode_.decode_length.value();
        ms.push_back(1000.0 * line->wall(x0, kv));
    }
    return ms;
}

// The decision of a role outside agg, with its prerequisites.
Twin::Opinion Twin::opinion(Role role, Engines engines, Diagnostics& d) {
    if (c_.easy()) return easy(role, engines);
    if (!model(role).enough() || ready_[role] <= 0) return {};
    return role == Role::prefill
               ? sla(ttft_ms(role, engines), ready_[role], c_.ttft.count(), d.estimated_ttft)
               : sla(itl_ms(role, engines), ready_[role], c_.itl.count(), d.estimated_itl);
}

// Section 6, and 7.3, which asks for engines before it asks for a change in progress.
std::optional<ScalingTarget> Twin::load_single(const FpmSnapshot& fpm, Role role, Diagnostics& d) {
    const Engines engines = fpm[role];
    const Count n = ready_[role];
    std::optional<Reason>& reason = d.load_decision_reason;
    if (c_.mode == Mode::agg && engines.empty()) {
        reason = Reason::no_fpm_data;
    } else if (in_progress(role)) {
        reason = Reason::scaling_in_progress;
    } else if (engines.empty()) {
        reason = Reason::no_fpm_data;
    } else if (!reconciled(engines, n)) {
        reason = Reason::worker_count_mismatch;
    }
    if (reason) return std::nullopt;
    const Opinion own = opinion(role, engines, d);
    if (!own.count) {
        reason = own.reason;
        return std::nullopt;
    }
    Count desired = *own.count;
    if (c_.mode == Mode::agg) desired = std::max(desired, c_.min_endpoint);
    if (c_.enable_throughput_scaling) desired = std::max(desired, floor_[role]);
    desired = single_budget(desired, caps_[role].num_gpu);
    if (desired < n) {
        reason = desired > *own.count ? Reason::scale_down_capped_by_throughput : Reason::scale_down;
    } else {
        reason = desired > n ? Reason::scale_up : Reason::no_change;
    }
    return role == Role::prefill ? target(desired, std::nullopt) : target(std::nullopt, desired);
}

// 7.1
std::optional<ScalingTarget> Twin::load_disagg(const FpmSnapshot& fpm, Diagnostics& d) {
    const auto stop = [&](Reason r) {
        d.load_decision_reason = d.load_decision_reason_of.prefill = d.load_decision_reason_of.decode = r;
        return std::nullopt;
    };
    if (fpm.prefill.empty() && fpm.decode.empty()) return stop(Reason::no_fpm_data);
    for (const Role role : all_roles) {
        if (!fpm[role].empty() && !reconciled(fpm[role], ready_[role]))
            return stop(Reason::worker_count_mismatch);
    }
    PerRole<Count> wanted;
    PerRole<Count> lifted;
    for (const Role role : all_roles) {
        wanted[role] = ready_[role];
        if (!fpm[role].empty()) wanted[role] = opinion(role, fpm[role], d).count.value_or(ready_[role]);
        lifted[role] = c_.enable_throughput_scaling ? std::max(wanted[role], floor_[role]) : wanted[role];
    }
    const auto [p, q] =
        global_budget(std::max(lifted.prefill, c_.min_endpoint), std::max(lifted.decode, c_.min_endpoint));
    const PerRole<Count> last{p, q};
    const std::vector<Reason> rank{Reason::no_change, Reason::scale_down,
                                   Reason::scale_down_capped_by_throughput, Reason::scale_up};
    std::size_t best = 0;
    for (const Role role : all_roles) {
        const Count n = ready_[role];
        const bool capped = lifted[role] > wanted[role] && wanted[role] < n;
        std::size_t r = 0;
        if (last[role] > n) {
            r = 3;
        } else if (capped) {
            r = 2;
        } else if (last[role] < n) {
            r = 1;
        }
        d.load_decision_reason_of[role] = rank[r];
        best = std::max(best, r);
    }
    d.load_decision_reason = rank[best];
    if (last == ready_) return std::nullopt;
    return target(last.prefill, last.decode);
}

// 7.2
std::optional<ScalingTarget> Twin::load_agg(const FpmSnapshot& fpm, Diagnostics& d) {
    std::optional<Reason>& reason = d.load_decision_reason;
    const Count n = ready_.decode;
    if (fpm.decode.empty()) {
        reason = Reason::no_fpm_data;
    } else if (in_progress(Role::decode)) {
        reason = Reason::scaling_in_progress;
    } else if (!reconciled(fpm.decode, n)) {
        reason = Reason::worker_count_mismatch;
    } else if (!decode_.enough()) {
        reason = Reason::insufficient_data;
    }
    if (reason) return std::nullopt;
    const auto p = sla(ttft_ms(Role::decode, fpm.decode), n, c_.ttft.count(), d.estimated_ttft).count;
    const auto q = sla(itl_ms(Role::decode, fpm.decode), n, c_.itl.count(), d.estimated_itl).count;
    Count wanted = n;
    if (p && *p > n) {
        wanted = *p;
    } else if (q && *q > n) {
        wanted = *q;
    } else if (!p && q && *q < n) {
        wanted = *q;
    } else if (p && q && *p < n && *q < n) {
        wanted = std::max(*p, *q);
    }
    Count desired = std::max(wanted, c_.min_endpoint);
    if (c_.enable_throughput_scaling) desired = std::max(desired, floor_.decode);
    desired = single_budget(desired, caps_.decode.num_gpu);
    const bool capped = desired > wanted && wanted < n;
    if (desired > n) {
        reason = Reason::scale_up;
    } else if (capped) {
        reason = Reason::scale_down_capped_by_throughput;
    } else {
        reason = desired < n ? Reason::scale_down : Reason::no_change;
    }
    if (desired == n) return std::nullopt;
    return target(std::nullopt, desired);
}

}  // namespace dynaplan::reference
