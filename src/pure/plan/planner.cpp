#include "plan/planner.hpp"

#include <algorithm>

#include "core/config_field.hpp"

namespace dynaplan::plan {

Planner::Planner(const PlannerConfig& c) : rules_{c}, guard_{c}, agenda_{c} { refresh_capabilities(); }

TimePoint Planner::next_wake() const { return started_ ? agenda_.next() : Agenda::never; }

Effects Planner::step(const Event& event) {
    effects_.clear();
    if (!started_) start(event.at);
    run_due(event.at, false);
    now_ = std::max(now_, event.at);
    std::visit([this](const auto& body) { take(body); }, event.body);
    return std::move(effects_);
}

Effects Planner::wake(TimePoint now) {
    effects_.clear();
    if (!started_) start(now);
    run_due(now, true);
    now_ = std::max(now_, now);
    return std::move(effects_);
}

void Planner::start(TimePoint at) {
    started_ = true;
    now_ = at;
    agenda_.start(at);
    guard_.settle(at);
    announce_wake(at);
}

void Planner::resume(TimePoint now) {
    if (!started_) return;
    now_ = std::max(now_, now);
    agenda_.resume(now_);
    guard_.settle(now_);
    early_.reset();
    announced_ = Agenda::never;  // whoever runs it now has been told of no wake-up
}

void Planner::run_due(TimePoint limit, bool inclusive) {
    for (TimePoint due = agenda_.next(); due < limit || (inclusive && due == limit); due = agenda_.next()) {
        now_ = std::max(now_, due);
        run(agenda_.run_next(due), now_, Reading<Traffic>::unknown());
    }
}

void Planner::announce_wake(TimePoint now) {
    const TimePoint next = agenda_.next();
    if (next == announced_) return;
    announced_ = next;
    emit(now, WakeAt{next});
}

void Planner::take(const EngineJoined& e) {
    if (!has_role(config().mode, e.role)) return;
    tracker_.join(e.role, e.engine, e.capabilities);
    refresh_capabilities();
}

void Planner::take(const EngineLeft& e) {
    if (const auto gone = tracker_.leave(e.role, e.engine)) {
        forget(e.role, *gone);
        refresh_capabilities();
    }
}

void Planner::take(const FpmArrived& e) {
    if (!has_role(config().mode, e.role)) {
        ++ignored_;
        return;
    }
    const Tracker::Report seen = tracker_.observe(e.role, e.fpm, now_);
    if (seen.freshness == Tracker::Freshness::repeated) {
        ++repeated_;
        return;
    }
    ++observed_[e.role];
    if (rules_.observes_every() && !rules_.observe(e.role, seen.engine->engine, e.fpm.pass, now_))
        ++outliers_;
    if (config().policy.trigger == Trigger::event) note_breach(e.role, *seen.engine);
}

// A breach that has spread to all engines of a role is what a load tick would act upon: it pulls the tick
// nearer. While one engine is known to be well, no report of another can bring that about: only the witness
// itself is judged, and the others when it falls.
void Planner::note_breach(Role role, const EngineObservation& engine) {
    Breach& breach = breach_[role];
    if (breach.witness && *breach.witness != engine.engine) return;
    if (!rules_.in_breach(role, engine, now_)) {
        breach = Breach{engine.engine, false};
        return;
    }
    if (breach.everywhere) return;
    for (const EngineObservation& other : tracker_.reported(role)) {
        if (rules_.in_breach(role, other, now_)) continue;
        breach.witness = other.engine;
        return;
    }
    breach = Breach{std::nullopt, true};
    agenda_.pull_load(now_);
    announce_wake(now_);
}

void Planner::forget(Role role, EngineIndex engine) {
    rules_.forget(role, engine);
    if (breach_[role].witness == engine) breach_[role].witness.reset();  // the next report looks for another
}

void Planner::take(const InventoryRead& e) {
    if (!has_role(config().mode, e.role)) return;
    inventory_[e.role] = Inventory{e.ready, e.expected, e.rolling};
}

void Planner::take(const TrafficObserved& e) {
    if (agenda_.open_if_due(now_)) emit(now_, TrafficWanted{config().throughput_adjustment_interval});
    if (const auto due = agenda_.traffic_came(now_)) {
        run(*due, now_, e.traffic);
        return;
    }
    if (config().enable_throughput_scaling && !at_zero()) {
        early_ = EarlyTraffic{now_, e.traffic};  // for the tick that is about to fall due
        return;
    }
    // Nobody asked: it still tells the hit rate, and a fleet at zero that requests are coming.
    rules_.observe_traffic(e.traffic, e.window);
    if (at_zero() && rules_.arrivals()) {
        agenda_.pull_load(now_);
        announce_wake(now_);
    }
}

void Planner::take(const TickDue&) { run_due(now_, true); }

void Planner::take(const DecisionOutcome& e) { guard_.outcome(e, now_); }
void Planner::take(const DecisionPublished& e) { guard_.published(e, now_); }
void Planner::take(const DecisionRefused& e) { guard_.refused(e, now_); }
void Planner::take(const DecisionRestored& e) { guard_.restored(e, now_); }
void Planner::take(const BusChanged& e) { guard_.bus(e.connected, now_); }
void Planner::take(const LeaderChanged& e) { guard_.leader(e.leading, now_); }

void Planner::take(const ConfigChanged& e) {
    PlannerConfig changed = config();
    const std::vector<std::string> problems = set_fields(changed, e.set, true);
    if (!problems.empty()) {
        std::string message = "config refused:";
        for (const std::string& problem : problems) message += " " + problem + ";";
        message.pop_back();
        emit(now_, ConfigRefused{message});
        return;
    }
    rules_.reconfigure(changed);
    guard_.reconfigure(changed);
    refresh_capabilities();
}

// The card of the lowest instance id, field by field, else the configuration (DESIGN 5.3).
void Planner::refresh_capabilities() {
    PerRole<Capabilities> all;
    for (const Role role : all_roles) {
        Capabilities& c = all[role];
        c = config().capabilities[role];
        if (const auto gpus = config().gpus(role)) c.num_gpu = gpus;
        const Capabilities card = tracker_.lowest_card(role);
        if (card.num_gpu) c.num_gpu = card.num_gpu;
        if (card.max_num_batched_tokens) c.max_num_batched_tokens = card.max_num_batched_tokens;
        if (card.max_num_seqs) c.max_num_seqs = card.max_num_seqs;
        if (card.context_length) c.context_length = card.context_length;
        if (card.max_kv_tokens) c.max_kv_tokens = card.max_kv_tokens;
    }
    rules_.set_capabilities(all);
}

namespace {
constexpr std::uint32_t state_version = 1;
}  // namespace

std::string Planner::save() {
    StateWriter out;
    std::uint32_t version = state_version;
    std::vector<NamedValue> fields = values_of(config());
    out(version, fields);
    archive(out);
    return out.take();
}

Result<Planner> Planner::load(std::string_view state) {
    StateReader in{state};
    std::uint32_t version = 0;
    in(version);
    if (!in.ok() || version != state_version) {
        return failure("checkpoint: state version " + std::to_string(version) + " is not " +
                       std::to_string(state_version) + ", the one that this program reads");
    }
    std::vector<NamedValue> fields;
    in(fields);
    PlannerConfig config;
    if (!in.ok()) return failure("checkpoint: the configuration is cut short");
    const std::vector<std::string> problems = set_fields(config, fields, false);
    if (!problems.empty()) return failure("checkpoint: " + problems.front());
    Planner planner{config};
    planner.archive(in);
    if (!in.at_end()) return failure("checkpoint: the state is damaged, or of another configuration");
    return planner;
}

}  // namespace dynaplan::plan
