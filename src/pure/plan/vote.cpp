#include "plan/vote.hpp"

#include <algorithm>
#include <cmath>

#include "model/estimate.hpp"

namespace dynaplan::plan {

Voting::Voting(const PlannerConfig& c)
    : mode_{c.mode},
      optimization_target_{c.optimization_target},
      ttft_{c.ttft},
      itl_{c.itl},
      sensitivity_{static_cast<double>(c.load_scaling_down_sensitivity) / 100.0},
      step_max_{c.policy.decision_step_max},
      ignore_unreachable_{c.policy.unreachable_sla == UnreachableSla::ignore},
      check_survivors_{c.policy.scale_down_check == ScaleDownCheck::consolidation},
      survive_{check_survivors_ ? survive_consolidation : survive_always},
      step_{c.policy.load_step == LoadStep::queue ? step_queue : step_one},
      queue_up_{c.prefill_scale_up_queue_tokens},
      queue_down_{c.prefill_scale_down_queue_tokens},
      kv_up_{c.decode_scale_up_kv_rate},
      kv_down_{c.decode_scale_down_kv_rate} {}

Millis Voting::target_of(Latency latency) const { return latency == Latency::ttft ? ttft_ : itl_; }

namespace {

constexpr Replicas one{1};
// Survivors that have ample room would carry so many times the present load. Poisson arrivals keep the number
// of requests in flight within a quarter of its mean from 150 requests on (three deviations).
constexpr double ample_load = 1.25;

// Why no engine had an estimate.
Reason without_estimates(const Electorate& who) {
    for (const EngineObservation* e : who.roster->engines) {
        if (who.input.models->fit(e->engine).state == model::FitState::not_finite) {
            return Reason::input_not_finite;
        }
    }
    return Reason::insufficient_data;
}

bool prerequisites(const Signal& signal, const Electorate& who) {
    if (who.ready <= Replicas{0}) return false;
    if (!signal.needs_batched_tokens) return true;
    if (who.input.capabilities->max_num_batched_tokens.value_or(0) > 0) return true;
    for (const EngineObservation* e : who.roster->engines) {
        if (e->capabilities.max_num_batched_tokens.value_or(0) > 0) return true;
    }
    return false;
}

}  // namespace

Vote Voting::sla(const Signal& signal, const Electorate& who) const {
    Vote vote;
    vote.target = target_of(signal.latency);
    vote.threshold = vote.target * sensitivity_;
    if (!prerequisites(signal, who)) return vote;

    const auto [engines, largest, smallest] = signal.estimate_all(who.input, who.roster->engines, 1.0);
    vote.engines = engines;
    if (vote.engines == 0) {
        vote.reason = without_estimates(who);
        return vote;
    }
    vote.estimate_max = Millis{largest};
    vote.estimate_min = Millis{smallest};
    vote.reason = Reason::no_change;
    if (check_survivors_) vote.room = Room::none;

    if (ignore_unreachable_ && largest > vote.target.count()) {
        judge_unreachable(signal, who, vote);
        if (vote.best_reachable) return vote;
    }
    if (smallest > vote.target.count()) {
        vote.desired = who.base + step_(*this, who);
        vote.reason = Reason::scale_up;
    } else if (who.ready > one && largest < vote.threshold.count()) {
        if (!survive_(*this, signal, who, 1.0)) {
            vote.reason = Reason::scale_down_refused_consolidation;
        } else {
            vote.desired = std::max(who.ready - one, who.minimum);
            vote.reason = Reason::scale_down;
            if (check_survivors_)
                vote.room = survive_(*this, signal, who, ample_load) ? Room::ample : Room::enough;
        }
    }
    return vote;
}

// An empty engine at batch 1 misses the target too on every engine that is above it: that part replicas
// cannot buy (case A08). What remains, the part that load adds, must exceed a whole target of its own to be a
// reason to grow. Shrinking then follows demand alone, as throughput scaling sees it.
void Voting::judge_unreachable(const Signal& signal, const Electorate& who, Vote& vote) const {
    const double target = vote.target.count();
    if (!(signal.estimate_all(who.input, who.roster->engines, 0.0).largest > target)) return;
    double best = 0.0;
    bool all_grow = true;
    bool all_idle = true;
    bool any = false;
    for (const EngineObservation* e : who.roster->engines) {
        const std::optional<double> now = signal.estimate(who.input, *e, 1.0);
        const std::optional<double> empty = signal.estimate(who.input, *e, 0.0);
        if (!now || !empty) continue;
        if (*empty > target) {
            best = any ? std::min(best, *empty) : *empty;
            any = true;
            all_grow = all_grow && *now - *empty > target;
            all_idle = all_idle && *now - *empty < vote.threshold.count();
        } else {
            all_grow = all_grow && *now > target;
            all_idle = all_idle && *now < vote.threshold.count();
        }
    }
    if (!any) return;
    vote.best_reachable = Millis{best};
    vote.reason = Reason::sla_unreachable;
    vote.room.reset();  // demand alone vouches for the survivors
    if (all_grow) {
        vote.desired = who.base + step_(*this, who);
        vote.reason = Reason::scale_up;
    } else if (all_idle && who.ready > one && who.demand_floor && *who.demand_floor < who.ready) {
        vote.desired = std::max(who.ready - one, who.minimum);
        vote.reason = Reason::scale_down;
    }
}

bool Voting::survive_always(const Voting&, const Signal&, const Electorate&, double) { return true; }

// Would the survivors, with n/(n-1) of `load` times the present load, stay inside? (core semantics 13; cases
// A11, A13)
bool Voting::survive_consolidation(const Voting& voting, const Signal& signal, const Electorate& who,
                                   double load) {
    const std::int64_t survivors = std::min(who.roster->workers, who.ready.count()) - 1;
    if (survivors < 1) return false;
    const double share = load * static_cast<double>(survivors + 1) / static_cast<double>(survivors);
    const double target = voting.target_of(signal.latency).count();
    const double threshold = target * voting.sensitivity_;
    for (const EngineObservation* e : who.roster->engines) {
        const std::optional<double> after = signal.estimate(who.input, *e, share);
        if (!after) continue;
        if (signal.latency == Latency::ttft) {
            const std::optional<double> own = signal.estimate(who.input, *e, 0.0);
            const double room = (target - own.value_or(0.0)) * voting.sensitivity_;
            if (!(room > 0.0) || *after - own.value_or(0.0) >= room) return false;
        } else {
            const auto limit = e->capabilities.max_kv_tokens ? e->capabilities.max_kv_tokens
                                                             : who.input.capabilities->max_kv_tokens;
            const double kv = static_cast<double>(e->pass.scheduled.sum_decode_kv_tokens) +
                              static_cast<double>(e->pass.queued.sum_decode_kv_tokens);
            if (limit && kv * share >= static_cast<double>(*limit)) return false;
            if (*after >= threshold) return false;
            if (!settles_within(signal, who, *e, share, target)) return false;
        }
    }
    const bool ttft = signal.latency == Latency::ttft;
    return rates_fit(who, share,
                     {ttft ? signal.estimate : nullptr, static_cast<double>(survivors), threshold});
}

// Slower passes keep requests longer, so that the batch grows by more than the share (Little's law): with an
// empty pass of w0 and w0 + m now, the token rate (per unit of load) 1 / (w0 + m) times the share is reached
// again at the load f = share * w0 / (w0 + m - share * m), or never. There the target itself has to hold.
bool Voting::settles_within(const Signal& signal, const Electorate& who, const EngineObservation& e,
                            double share, double target_ms) {
    const double now = signal.estimate(who.input, e, 1.0).value_or(0.0);
    const double empty = signal.estimate(who.input, e, 0.0).value_or(0.0);
    const double added = now - empty;
    if (!(added > 0.0)) return true;
    const double rest = now - share * added;
    return rest > 0.0 && empty + added * share * empty / rest <= target_ms;
}

// Tokens per second are a limit of their own: engines whose every pass is full have no room, however low
// their KV use (case A11). Below that limit prompts still wait for each other. With a utilisation of rho and
// a prompt that takes S, the mean wait is S * rho / (2 (1 - rho)) (M/D/1), and waits beyond it fall off
// exponentially. Growth asks that all survivors are above the target at once: the wait that m of them exceed
// together once in a million instants is the mean times ln(10^6) / m. Never less than three means, the
// 95th percentile of one engine.
bool Voting::rates_fit(const Electorate& who, double share, const Queueing& queueing) {
    constexpr double rare = 13.815510557964274;  // ln(10^6)
    constexpr double tail_least = 3.0;
    for (const EngineObservation* e : who.roster->engines) {
        const double rate = who.input.models->prefill_token_rate(e->engine, who.input.now);
        const auto limit = e->capabilities.max_num_batched_tokens
                               ? e->capabilities.max_num_batched_tokens
                               : who.input.capabilities->max_num_batched_tokens;
        const model::Fit& fit = who.input.models->fit(e->engine);
        if (rate <= 0.0 || limit.value_or(0) <= 0 || !fit.accepted()) continue;
        const auto full = static_cast<double>(*limit);
        const auto kv = static_cast<double>(e->pass.scheduled.sum_decode_kv_tokens);
        const double utilisation = rate * share / (full / fit(full, kv));
        if (utilisation > 1.0) return false;
        if (queueing.estimate == nullptr) continue;
        const double own = queueing.estimate(who.input, *e, 0.0).value_or(0.0);
        const double mean_wait = own * utilisation / (2.0 * (1.0 - utilisation));
        if (!(own + std::max(rare / queueing.survivors, tail_least) * mean_wait < queueing.threshold_ms))
            return false;
    }
    return true;
}

Replicas Voting::step_one(const Voting&, const Electorate&) { return one; }

// As many replicas as the queued work needs, at what one replica clears within the target (case A14).
Replicas Voting::step_queue(const Voting& voting, const Electorate& who) {
    double needed = 1.0;
    const model::Fit& fit = who.input.models->fleet().fit();
    double prompt_tokens = 0.0;
    double kv_tokens = 0.0;
    for (const EngineObservation* e : who.roster->engines) {
        prompt_tokens += static_cast<double>(e->pass.queued.sum_prefill_tokens);
        kv_tokens += static_cast<double>(e->pass.queued.sum_decode_kv_tokens);
    }
    const auto batched = who.input.capabilities->max_num_batched_tokens;
    if (voting.mode_ != Mode::decode && prompt_tokens > 0.0 && fit.accepted() && batched.value_or(0) > 0 &&
        (who.role == Role::prefill || voting.mode_ == Mode::agg)) {
        const auto full = static_cast<double>(*batched);
        const double cleared = full / fit(full, 0.0) * std::chrono::duration<double>(voting.ttft_).count();
        needed = std::max(needed, std::ceil(prompt_tokens * (1.0 - who.input.kv_hit_rate) / cleared));
    }
    const auto room = who.input.capabilities->max_kv_tokens;
    if (who.role == Role::decode && kv_tokens > 0.0 && room.value_or(0) > 0) {
        needed = std::max(needed, std::ceil(kv_tokens / static_cast<double>(*room)));
    }
    constexpr double unbounded = 1e6;
    const double bound = voting.step_max_ > 0 ? static_cast<double>(voting.step_max_) : unbounded;
    return Replicas{static_cast<std::int64_t>(std::clamp(needed, 1.0, bound))};
}

// One row of the table of easy targets: the value of an engine, and the two thresholds.
struct Voting::EasyRule {
    double up;
    bool up_at_equality;
    double down;
    bool down_at_equality;
    long double scale;  // the engine's tokens are divided by it
    [[nodiscard]] bool above(double v) const { return up_at_equality ? v >= up : v > up; }
    [[nodiscard]] bool below(double v) const { return down_at_equality ? v <= down : v < down; }
};

std::optional<Voting::EasyRule> Voting::easy_rule(const Electorate& who) const {
    const Capabilities& caps = *who.input.capabilities;
    const bool prefill = who.role == Role::prefill;
    const auto scale =
        static_cast<long double>((prefill ? caps.context_length : caps.max_kv_tokens).value_or(0));
    switch (optimization_target_) {
        case OptimizationTarget::throughput:
            if (scale == 0) return std::nullopt;
            return prefill ? EasyRule{1.0, true, 0.1, false, scale} : EasyRule{1.0, false, 0.6, false, scale};
        case OptimizationTarget::latency:
            if (scale == 0) return std::nullopt;
            return prefill ? EasyRule{0.1, true, 0.0, true, scale} : EasyRule{0.4, false, 0.1, false, scale};
        case OptimizationTarget::load:
            if (prefill) {
                return EasyRule{static_cast<double>(queue_up_.value_or(0)), true,
                                static_cast<double>(queue_down_.value_or(0)), true, 1.0};
            }
            if (scale == 0) return std::nullopt;
            return EasyRule{kv_up_.value_or(0.0), true, kv_down_.value_or(0.0), true, scale / 100};
        case OptimizationTarget::sla: break;
    }
    return std::nullopt;
}

Vote Voting::easy(const Electorate& who) const {
    Vote vote;
    const std::optional<EasyRule> rule = easy_rule(who);
    if (who.ready <= Replicas{0} || !rule || who.roster->engines.empty()) return vote;
    vote.reason = Reason::no_change;
    bool any_above = false;
    bool all_below = true;
    double largest = 0.0;
    for (const EngineObservation* e : who.roster->engines) {
        __int128 tokens = 0;  // sums of 64-bit counts, compared exactly
        if (who.role == Role::prefill || mode_ == Mode::agg) {
            tokens += e->pass.queued.sum_prefill_tokens;
        }
        if (who.role == Role::decode) {
            tokens += e->pass.scheduled.sum_decode_kv_tokens;
            tokens += e->pass.queued.sum_decode_kv_tokens;
        }
        const auto value = static_cast<double>(static_cast<long double>(tokens) / rule->scale);
        largest = std::max(largest, value);
        any_above = any_above || rule->above(value);
        all_below = all_below && rule->below(value);
    }
    vote.engines = static_cast<std::int64_t>(who.roster->engines.size());
    if (check_survivors_) vote.room = Room::none;
    if (any_above) {
        vote.desired = who.base + step_(*this, who);
        vote.reason = Reason::scale_up;
    } else if (who.ready > one && all_below) {
        const std::int64_t survivors = std::min(who.roster->workers, who.ready.count()) - 1;
        const auto carry = [&](double load) {
            if (!check_survivors_) return true;
            if (survivors < 1) return false;
            const double share = load * static_cast<double>(survivors + 1) / static_cast<double>(survivors);
            return !rule->above(largest * share) && rates_fit(who, share, {});
        };
        if (!carry(1.0)) {
            vote.reason = Reason::scale_down_refused_consolidation;
            return vote;
        }
        vote.desired = std::max(who.ready - one, who.minimum);
        vote.reason = Reason::scale_down;
        if (check_survivors_) vote.room = carry(ample_load) ? Room::ample : Room::enough;
    }
    return vote;
}

}  // namespace dynaplan::plan
