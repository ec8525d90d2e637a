// The tick half of the planner: what a due tick is given, and what its answer becomes.
#include <algorithm>

#include "plan/planner.hpp"

namespace dynaplan::plan {

// What the inventory says; without one, the workers that report (DESIGN 6).
Replicas Planner::ready_at(Role role, TimePoint now) const {
    if (inventory_[role].ready) return *inventory_[role].ready;
    return Replicas{tracker_.workers_heard(role, now, config().policy.engine_silent)};
}

WorkerCounts Planner::counts() {
    WorkerCounts counts;
    for (const Role role : all_roles) {
        if (!has_role(config().mode, role)) continue;
        const Replicas n = ready(role);
        guard_.look(role, n, tracker_.workers(role), inventory_[role], now_);
        counts.ready[role] = n;
        counts.expected[role] = guard_.expected(role);
    }
    return counts;
}

// A role that the minimum allows to be at zero, and is: only traffic can tell that it is needed.
bool Planner::at_zero() const {
    const PlannerConfig& c = config();
    for (const Role role : all_roles) {
        if (has_role(c.mode, role) && c.minimum(role) == Replicas{0} &&
            guard_.expected(role).value_or(ready(role)) == Replicas{0}) {
            return true;
        }
    }
    return false;
}

void Planner::run(const Agenda::Due& due, TimePoint now, const Reading<Traffic>& traffic) {
    if (due.kind == Agenda::Kind::open_throughput) {
        emit(now, TrafficWanted{config().throughput_adjustment_interval});
        if (early_ && now - early_->at <= config().traffic_wait) {  // it has been answered already
            const Reading<Traffic> reading = early_->traffic;
            early_.reset();
            if (const auto open = agenda_.traffic_came(now)) run(*open, now, reading);
            return;
        }
        announce_wake(now);
        return;
    }
    if (!due.load && !due.throughput) {  // merged into the open throughput tick
        announce_wake(now);
        return;
    }
    tracker_.forget_silent(now, [this](Role role, EngineIndex gone) { forget(role, gone); });

    ScheduledTick tick;
    tick.at = now;
    tick.run_load = due.load;
    tick.run_throughput = due.throughput;
    tick.need_fpm = due.load;
    if (due.throughput) tick.traffic_duration = config().throughput_adjustment_interval;

    TickInput input;
    input.now = now;
    if (due.throughput) input.traffic = traffic;
    input.worker_counts = counts();
    if (due.load) input.fpm = FpmSnapshot{tracker_.reported(Role::prefill), tracker_.reported(Role::decode)};
    for (const Role role : all_roles) input.restraint[role] = guard_.restraint(role, now);

    const TickResult result = rules_.on_tick(tick, input);
    guard_.asked(result, due.throughput, config().enable_throughput_scaling, now);
    DiagnosticsReport diagnostics;
    for (const Role role : all_roles) {
        if (!has_role(config().mode, role)) continue;
        diagnostics.ready[role] = input.worker_counts->ready[role];
        diagnostics.expected[role] = input.worker_counts->expected[role];
    }
    if (result.scale_to) propose(result, diagnostics);
    report(result, due, std::move(diagnostics));
    if (due.load && at_zero()) emit(now, TrafficWanted{config().load_adjustment_interval});
    announce_wake(now);
}

void Planner::propose(const TickResult& result, DiagnosticsReport& diagnostics) {
    diagnostics.recommended = {result.scale_to->prefill, result.scale_to->decode};
    if (config().advisory || !guard_.leading()) return;
    ScaleTo scale;
    scale.proposal = next_proposal_++;
    scale.prefill = result.scale_to->prefill;
    scale.decode = result.scale_to->decode;
    scale.reason = result.reason;
    scale.cancels = result.cancels;
    scale.why = result.why;
    guard_.proposed(scale.proposal, *result.scale_to, now_);
    emit(now_, std::move(scale));
}

void Planner::report(const TickResult& result, const Agenda::Due& due, DiagnosticsReport diagnostics) {
    diagnostics.diagnostics = result.diagnostics;
    diagnostics.holds = guard_.holds(now_);
    diagnostics.ran_load = due.load;
    diagnostics.ran_throughput = due.throughput;
    diagnostics.fpm_observed = observed_.prefill + observed_.decode;
    diagnostics.fpm_repeated = repeated_;
    diagnostics.fpm_outliers = outliers_;
    diagnostics.fpm_ignored = ignored_;
    diagnostics.best_reachable_ttft = result.best_reachable_ttft;
    diagnostics.best_reachable_itl = result.best_reachable_itl;
    diagnostics.engines_silent = result.engines_silent;
    diagnostics.engines_stuck = result.engines_stuck;
    emit(now_, std::move(diagnostics));
}

}  // namespace dynaplan::plan
