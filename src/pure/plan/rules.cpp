#include "plan/rules.hpp"

#include <algorithm>

#include "model/estimate.hpp"

namespace dynaplan::plan {

namespace {

// Load and throughput ticks due so close together are one (core semantics 2).
constexpr Seconds merge_tolerance{0.5};

model::RoleModelSettings model_settings(const PlannerConfig& c, Role role) {
    model::RoleModelSettings s;
    s.model.kind = c.mode == Mode::agg     ? model::ModelKind::agg
                   : role == Role::prefill ? model::ModelKind::prefill
                                           : model::ModelKind::decode;
    s.model.window = c.max_num_fpm_samples;
    s.model.buckets = c.fpm_sample_bucket_size;
    s.model.min_observations = c.load_min_observations;
    s.model.retirement = c.policy.retirement;
    s.model.axis_bounds = c.policy.axis_bounds;
    s.model.regression_fit = c.policy.regression_fit;
    s.model.estimate_floor = c.policy.estimate_floor;
    s.model.averages = c.policy.averages;
    s.model.averages_window = c.policy.averages_window;
    s.scope = c.policy.regression_scope;
    s.warmup_outlier = c.policy.warmup_outlier;
    return s;
}

}  // namespace

Rules::Rules(const PlannerConfig& c)
    : config_{c},
      every_{c.policy.fpm_sampling == FpmSampling::every},
      always_clamp_{c.policy.last_clamp == LastClamp::always},
      engine_isl_{c.policy.regression_scope == RegressionScope::engine},
      models_{model::RoleModel{model_settings(c, Role::prefill)},
              model::RoleModel{model_settings(c, Role::decode)}},
      throughput_{c},
      load_{c},
      reference_clamp_{c},
      final_clamp_{c} {}

void Rules::reconfigure(const PlannerConfig& c) {
    config_ = c;
    throughput_.reconfigure(c);
    load_ = LoadPass{c};
    reference_clamp_ = ReferenceClamp{c};
    final_clamp_ = FinalClamp{c};
}

void Rules::set_capabilities(const PerRole<Capabilities>& capabilities) { capabilities_ = capabilities; }

void Rules::warm(std::span<const Traffic> observations) { throughput_.warm(observations); }

void Rules::bootstrap(Role role, std::span<const ForwardPass> passes) {
    if (config_.easy()) return;  // queues alone decide
    for (const ForwardPass& pass : passes) models_[role].bootstrap(pass);
}

bool Rules::observe(Role role, EngineIndex engine, const ForwardPass& pass, TimePoint now) {
    if (config_.easy()) return true;
    return models_[role].observe(engine, pass, now);
}

void Rules::forget(Role role, EngineIndex engine) { models_[role].forget(engine); }

void Rules::observe_traffic(const Reading<Traffic>& reading, Seconds window) {
    throughput_.observe(reading, window, false);
}

bool Rules::in_breach(Role role, const EngineObservation& engine, TimePoint now) const {
    if (config_.easy()) return false;
    const SignalInput in = SignalInput::of(models_[role], capabilities_[role],
                                           model::clamp_kv_hit_rate(throughput_.last_kv_hit_rate()),
                                           engine_isl_ ? throughput_.last_isl() : std::nullopt, now);
    const auto above = [&](const Signal& signal, Millis target) {
        const std::optional<double> ms = signal.estimate(in, engine, 1.0);
        return ms && *ms > target.count();
    };
    if (config_.mode == Mode::agg) return above(agg_ttft, config_.ttft) || above(agg_itl, config_.itl);
    return role == Role::prefill ? above(prefill_ttft, config_.ttft) : above(decode_itl, config_.itl);
}

ScheduledTick Rules::initial_tick(TimePoint start) {
    next_load_ = start + config_.load_adjustment_interval;
    next_throughput_ =
        config_.enable_throughput_scaling ? start + config_.throughput_adjustment_interval : never;
    return next_tick();
}

ScheduledTick Rules::next_tick() const {
    ScheduledTick tick;
    tick.at = std::min(next_load_, next_throughput_);
    tick.run_load = next_load_ <= tick.at + merge_tolerance;
    tick.run_throughput = next_throughput_ <= tick.at + merge_tolerance;
    tick.need_fpm = tick.run_load;
    if (tick.run_throughput) {
        tick.need_traffic = true;
        tick.traffic_duration = config_.throughput_adjustment_interval;
    } else if (tick.run_load && !config_.enable_throughput_scaling) {
        tick.need_traffic = true;  // for the KV hit rate alone
        tick.traffic_duration = config_.load_adjustment_interval;
    }
    return tick;
}

void Rules::take_inventory(const WorkerCounts& counts) {
    for (const Role role : all_roles) {
        if (counts.ready[role]) ready_[role] = *counts.ready[role];
        expected_[role] = counts.expected[role];
    }
}

PerRole<RoleFacts> Rules::facts() const {
    PerRole<RoleFacts> all;
    for (const Role role : all_roles) {
        RoleFacts& f = all[role];
        f.ready = ready_[role];
        f.expected = expected_[role];
        f.minimum = config_.minimum(role);
        f.floor = floors_[role];
        f.floor_known = floor_known_;
        f.floor_in_force = floor_in_force_[role];
        f.capabilities = capabilities_[role];
        f.models = &models_[role];
    }
    return all;
}

Budget Rules::budget() const {
    Budget b;
    b.limit = Gpus{config_.max_gpu_budget};
    b.minimum = {config_.minimum(Role::prefill), config_.minimum(Role::decode)};
    b.each = {capabilities_.prefill.num_gpu, capabilities_.decode.num_gpu};
    return b;
}

TickResult Rules::on_tick(const ScheduledTick& tick, const TickInput& in) {
    TickResult result;
    if (in.worker_counts) take_inventory(*in.worker_counts);
    ThroughputProposal throughput;
    LoadProposal load;
    if (tick.run_throughput) throughput = run_throughput(in, tick, result);
    if (tick.run_load) {
        // Nobody asks for it then; where it is handed in, it feeds what a throughput tick would feed (3.4).
        if (!tick.run_throughput && in.traffic) throughput_.observe(*in.traffic, tick.traffic_duration, true);
        load = run_load(in, result);
        next_load_ = in.now + config_.load_adjustment_interval;
    }
    explain(load, throughput, result);
    if (always_clamp_) {
        finish_always(in, tick, load, throughput, result);
    } else {
        finish_reference(load, throughput, result);
    }
    report(load, result.diagnostics);
    result.diagnostics.throughput_lower_bound = floors_;
    result.next_tick = next_tick();
    return result;
}

ThroughputProposal Rules::run_throughput(const TickInput& in, const ScheduledTick& tick, TickResult& result) {
    const Reading<Traffic> reading = in.traffic.value_or(Reading<Traffic>::unknown());
    const Seconds window =
        tick.traffic_duration > Seconds{0.0} ? tick.traffic_duration : config_.throughput_adjustment_interval;
    throughput_.observe(reading, window, true);
    ThroughputProposal p = throughput_.run(reading, window, in.now, facts(), result.diagnostics);
    result.diagnostics.throughput_decision_reason = p.reason;
    result.diagnostics.throughput_decision_reason_of = p.reason_of;
    if (p.decided && config_.enable_load_scaling) {
        for (const Role role : all_roles) {
            if (p.replicas[role]) floors_[role] = *p.replicas[role];
        }
        floor_known_ = true;
    }
    if (p.decided) result.needed_with_margin = {p.with_margin.prefill, p.with_margin.decode};
    next_throughput_ = in.now + config_.throughput_adjustment_interval;
    return p;
}

LoadProposal Rules::run_load(const TickInput& in, TickResult& result) {
    LoadProposal none;
    if (!in.fpm) return none;
    if (!every_ && !config_.easy()) {
        for (const Role role : all_roles) {
            if (!has_role(config_.mode, role)) continue;
            for (const EngineObservation& e : (*in.fpm)[role])
                models_[role].observe(e.engine, e.pass, in.now);
        }
    }
    if (!config_.enable_load_scaling) {
        none.reason = Reason::disabled;
        return none;
    }
    LoadInput input;
    input.now = in.now;
    input.roles = facts();
    input.fpm = *in.fpm;
    input.kv_hit_rate = model::clamp_kv_hit_rate(throughput_.last_kv_hit_rate());
    if (engine_isl_) input.traffic_isl = throughput_.last_isl();
    LoadProposal proposal = load_.run(input);
    result.room = proposal.room;
    if (proposal.ttft) result.diagnostics.estimated_ttft = proposal.ttft->estimate_max;
    if (proposal.itl) result.diagnostics.estimated_itl = proposal.itl->estimate_max;
    if (proposal.ttft) result.best_reachable_ttft = proposal.ttft->best_reachable;
    if (proposal.itl) result.best_reachable_itl = proposal.itl->best_reachable;
    return proposal;
}

void Rules::report(const LoadProposal& load, Diagnostics& out) {
    out.load_decision_reason = load.reason;
    out.load_decision_reason_of = load.reason_of;
}

// The reference: the load decision if there is one, else the throughput decision.
void Rules::finish_reference(LoadProposal& load, const ThroughputProposal& throughput,
                             TickResult& result) const {
    const PerRole<RoleFacts> roles = facts();
    result.scale_to = reference_clamp_.finish_load(load, roles, budget());
    if (result.scale_to) {
        result.reason = load.reason.value_or(Reason::no_change);
    } else if (throughput.decided && !config_.enable_load_scaling) {
        result.scale_to = reference_clamp_.finish_throughput(throughput.replicas, roles, budget());
        result.reason = Reason::scale;
    }
}

void Rules::finish_always(const TickInput& in, const ScheduledTick& tick, LoadProposal& load,
                          const ThroughputProposal& throughput, TickResult& result) {
    const PerRole<RoleFacts> roles = facts();
    const Budget limits = budget();
    ClampInput clamp;
    clamp.now = in.now;
    clamp.throughput_tick = tick.run_throughput;
    clamp.arrivals = throughput_.arrivals();
    clamp.idle = throughput_.idle();
    clamp.window_idle = tick.run_throughput && throughput_.idle_time() > Seconds{0.0};
    if (throughput_.unknown()) clamp.unknown = Reason::traffic_unknown;
    clamp.load = &load;
    clamp.throughput = &throughput;
    clamp.roles = &roles;
    clamp.restraint = &in.restraint;
    clamp.budget = &limits;
    ClampResult done = final_clamp_.apply(clamp, result.why);
    result.scale_to = done.target;
    result.reason = done.reason;
    result.cancels = done.cancels;
    result.asked = done.asked;
    for (const Role role : all_roles) {
        if (done.floor_in_force[role]) floor_in_force_[role] = done.floor_in_force[role];
    }
    // A role that a restraint holds says so, and the deployment does where nothing else moved.
    for (const Role role : all_roles) {
        if (!done.held[role] || !tick.run_load) continue;
        if (config_.mode == Mode::disagg) load.reason_of[role] = done.held[role];
        if (!done.target) load.reason = done.held[role];
    }
}

void Rules::explain(const LoadProposal& load, const ThroughputProposal& throughput,
                    TickResult& result) const {
    for (const Role role : all_roles) {
        if (!has_role(config_.mode, role)) continue;
        RoleWhy& why = result.why.role[role].emplace();
        why.ready = ready_[role];
        why.expected = expected_[role];
        why.engines_left_out = load.silent[role] + load.stuck[role];
        result.engines_silent += load.silent[role];
        result.engines_stuck += load.stuck[role];
        const bool own_ttft = role == Role::prefill;
        const std::optional<Vote>& vote = config_.mode == Mode::agg && load.ttft && load.itl &&
                                                  load.ttft->reason == Reason::scale_up &&
                                                  load.itl->reason != Reason::scale_up
                                              ? load.ttft
                                          : own_ttft ? load.ttft
                                                     : load.itl;
        if (vote) {
            why.engines = vote->engines;
            why.estimate_max = vote->estimate_max;
            why.estimate_min = vote->estimate_min;
            why.best_reachable = vote->best_reachable;
            if (vote->estimate_max) {
                why.target = vote->target;
                why.threshold = vote->threshold;
            }
        }
        why.load_reason = load.reason_of[role] ? load.reason_of[role] : load.reason;
        why.load_desired = load.value[role];
        why.throughput_reason = throughput.reason_of[role] ? throughput.reason_of[role] : throughput.reason;
        why.throughput_desired = throughput.replicas[role];
        why.demand_rps = throughput.demand_rps;
        why.engine_rps = result.diagnostics.engine_rps[role];
    }
}

}  // namespace dynaplan::plan
