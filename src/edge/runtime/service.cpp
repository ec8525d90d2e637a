#include "runtime/service.hpp"

#include <algorithm>
#include <utility>

#include "wire/json_effect.hpp"

namespace dynaplan::runtime {

std::string_view to_string(Missing m) {
    switch (m) {
        case Missing::bus: return "bus";
        case Missing::engines: return "engines";
        case Missing::model: return "model";
        case Missing::store: return "store";
        case Missing::leader: return "leader";
    }
    return "";
}

Service::Service(plan::Planner planner, const decision::CoordinatorConfig& config, const Parts& parts)
    : clock_{parts.clock},
      bus_{parts.bus},
      planner_{std::move(planner)},
      coordinator_{parts.store, config},
      now_{parts.clock.now()} {}

void Service::start(bool leading) {
    // Until the first word from the bus nothing can be known of the engines.
    Event down{now(), BusChanged{false}};
    feed(down);
    lead(leading);
}

void Service::lead(bool leading) {
    arrive();
    if (leading != leading_ || !diagnostics_) {
        leading_ = leading;
        Event event{now_, LeaderChanged{leading}};
        feed(event);
    }
    if (!leading) {
        coordinator_.stand_by();
    } else {
        restore();
    }
    changed();
}

void Service::restore() {
    if (coordinator_.restored() || coordinator_.busy()) return;
    restore_at_ = now_ + store_retry_after;
    feed(coordinator_.restore(now_, wall_ms()));
}

std::optional<TimePoint> Service::store_retry() const {
    if (!leading_ || coordinator_.restored()) return std::nullopt;
    return restore_at_;
}

std::vector<Hold> Service::holds() const {
    std::vector<Hold> holds = planner_.holds(now());
    for (Hold& hold : holds) {
        if (hold.reason == Reason::store_unavailable && !hold.deadline) hold.deadline = planner_.next_wake();
    }
    return holds;
}

void Service::take(Event& event) {
    arrive();
    run_coordinator();
    event.at = now_;
    if (const auto* bus = std::get_if<BusChanged>(&event.body)) bus_works_ = bus->connected;
    feed(event);
    changed();
}

void Service::wake() {
    arrive();
    run_coordinator();
    if (const auto retry = store_retry(); retry && *retry <= now_) restore();
    Event due{now_, TickDue{}};
    feed(due);
    changed();
}

std::optional<TimePoint> Service::earliest_due() const {
    std::optional<TimePoint> next = coordinator_.next_deadline();
    if (const auto retry = store_retry()) next = next ? std::min(*next, *retry) : *retry;
    const TimePoint core = planner_.next_wake();
    if (core < at_seconds(std::numeric_limits<double>::infinity()))
        next = next ? std::min(*next, core) : core;
    return next;
}

void Service::changed() {
    due_ = earliest_due();
    if (on_change) on_change();
}

void Service::run_coordinator() {
    if (const auto deadline = coordinator_.next_deadline(); deadline && *deadline <= now_)
        feed(coordinator_.tick(now_));
}

// The time at which something reaches us. After a stall the outage begins before the first tick that was
// missed: that tick and the ones after it run now, at their own times, at which nothing had been heard.
void Service::arrive() {
    const TimePoint last = std::exchange(now_, now());
    if (!due_ || now_ - *due_ <= stalled_after) return;
    const TimePoint since = std::max(last, *due_);
    due_ = now_;
    ++counts_.stalls;
    if (!bus_works_) return;
    Event lost{since, BusChanged{false}};
    feed(lost);
    Event back{now_, BusChanged{true}};
    feed(back);
}

void Service::complete(DecisionId id, Settled done) {
    arrive();
    settle(coordinator_.complete(id, now_), std::move(done));
}

void Service::fail(DecisionId id, Settled done) {
    arrive();
    settle(coordinator_.fail(id, now_), std::move(done));
}

void Service::settle(decision::Settlement settlement, Settled done) {
    if (settlement.status == decision::Settlement::Status::deferred) {
        deferred_.emplace(settlement.ticket, std::move(done));
    } else {
        feed(std::exchange(settlement.events, {}));
        done(settlement);
    }
    changed();
}

void Service::settle_deferred() {
    for (const decision::Settlement& settlement : coordinator_.take_settled()) {
        const auto waiting = deferred_.find(settlement.ticket);
        if (waiting == deferred_.end()) continue;
        const Settled done = std::move(waiting->second);
        deferred_.erase(waiting);
        done(settlement);
    }
}

void Service::store_read(const decision::ReadAnswer& answer) {
    arrive();
    feed(coordinator_.read_answered(answer, now_));
    settle_deferred();
    changed();
}

void Service::store_committed(const decision::CommitAnswer& answer) {
    arrive();
    feed(coordinator_.commit_answered(answer, now_));
    settle_deferred();
    changed();
}

void Service::store_seen(const decision::StoredState& seen) {
    arrive();
    if (coordinator_.restored()) {
        feed(coordinator_.observe(seen, now_, wall_ms()));
    } else {
        coordinator_.follow(seen);
    }
    settle_deferred();
    changed();
}

Result<void> Service::reconfigure(std::vector<std::pair<std::string, FieldValue>> set) {
    config_refused_.reset();
    take(ConfigChanged{std::move(set)});
    if (config_refused_) return failure(*config_refused_);
    return {};
}

Checkpoint Service::checkpoint() {
    StateWriter coordinator;
    coordinator_.archive(coordinator);
    return {now_, planner_.save(), coordinator.take()};
}

void Service::feed(Event& event) {
    Effects effects = planner_.step(event);
    journal_->append_event(event);
    if (!effects.empty()) follow(event, std::move(effects));
}

void Service::feed(decision::Events events) {
    for (Event& e : events) {
        e.at = std::max(e.at, now_);
        if (const auto* outcome = std::get_if<DecisionOutcome>(&e.body)) {
            ++counts_.decisions[std::string{to_string(outcome->outcome)}];
        } else if (std::holds_alternative<DecisionPublished>(e.body)) {
            ++counts_.decisions["published"];
        } else if (const auto* refused = std::get_if<DecisionRefused>(&e.body)) {
            ++counts_.refused[std::string{to_string(refused->reason)}];
        }
        feed(e);
    }
}

// All effects are written down before the first is followed: what they cause comes after them.
void Service::follow(const Event&, Effects effects) {
    for (const Effect& effect : effects) journal_->append_effect(effect);
    for (const Effect& effect : effects) {
        if (const auto* scale = std::get_if<ScaleTo>(&effect.body)) {
            propose(*scale);
        } else if (const auto* report = std::get_if<DiagnosticsReport>(&effect.body)) {
            note(*report);
        } else if (const auto* refused = std::get_if<ConfigRefused>(&effect.body)) {
            config_refused_ = refused->message;
        }
    }
}

void Service::propose(const ScaleTo& scale) {
    ++counts_.proposals;
    if (store_is_stale && store_is_stale()) coordinator_.doubt();
    std::string why;
    wire::append_why_json(why, scale.why);
    feed(coordinator_.propose(scale, now_, wall_ms(), std::move(why)));
}

void Service::note(const DiagnosticsReport& report) {
    diagnostics_ = report;
    counts_.load_ticks += report.ran_load ? 1 : 0;
    counts_.throughput_ticks += report.ran_throughput ? 1 : 0;
}

std::vector<Missing> Service::missing() const {
    std::vector<Missing> missing;
    if (!bus_.connected) missing.push_back(Missing::bus);
    const PlannerConfig& config = planner_.config();
    bool engines = true;
    bool model = true;
    for (const Role role : all_roles) {
        if (!has_role(config.mode, role)) continue;
        engines = engines && planner_.engines().workers_heard(role, now(), engines_missing_after) > 0;
        model = model && (config.easy() || planner_.rules().models(role).fleet().sufficient());
    }
    if (!engines) missing.push_back(Missing::engines);
    if (!model) missing.push_back(Missing::model);
    if (leading_ && !coordinator_.restored()) missing.push_back(Missing::store);
    if (!leading_) missing.push_back(Missing::leader);
    return missing;
}

}  // namespace dynaplan::runtime
