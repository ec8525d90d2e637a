#include "replay/session.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dynaplan::replay {

Session::Session(const PlannerConfig& config, Assume assume, decision::CoordinatorConfig coordinator)
    : planner_{config}, coordinator_{store_, coordinator}, assume_{assume} {
    coordinator_.restore(TimePoint{}, 0);  // the store is new and empty: there is nothing to tell the core
}

std::int64_t Session::wall_ms() const {
    constexpr double ms_per_second = 1000.0;
    return static_cast<std::int64_t>(std::floor(seconds_of(now_) * ms_per_second));
}

TimePoint Session::next_wake() const {
    const std::optional<TimePoint> deadline = coordinator_.next_deadline();
    return deadline ? std::min(planner_.next_wake(), *deadline) : planner_.next_wake();
}

void Session::run_before(TimePoint limit, bool inclusive, std::vector<Moment>& out) {
    for (TimePoint due = next_wake(); due < limit || (inclusive && due == limit); due = next_wake()) {
        now_ = std::max(now_, due);
        if (const auto deadline = coordinator_.next_deadline(); deadline && *deadline <= due) {
            from_coordinator(coordinator_.tick(now_), out);
        } else {
            to_core(Event{now_, TickDue{}}, out);
        }
    }
}

void Session::advance(TimePoint until, std::vector<Moment>& out) {
    if (started_) run_before(until, true, out);
    now_ = std::max(now_, until);
}

Result<void> Session::feed(const Event& event, std::vector<Moment>& out) {
    if (started_) run_before(event.at, false, out);
    started_ = true;
    now_ = std::max(now_, event.at);
    if (const auto* outcome = std::get_if<DecisionOutcome>(&event.body)) {
        if (outcome->outcome == OutcomeKind::acknowledged || outcome->outcome == OutcomeKind::failed) {
            decision::Settlement settled = outcome->outcome == OutcomeKind::acknowledged
                                               ? coordinator_.complete(outcome->decision_id, now_)
                                               : coordinator_.fail(outcome->decision_id, now_);
            if (settled.status == decision::Settlement::Status::never_published) {
                return failure("outcome: decision_id " + std::to_string(outcome->decision_id) +
                               " was never published");
            }
            from_coordinator(std::move(settled.events), out);
            return {};
        }
    }
    // A time-out of the coordinator that is due at this very time belongs to a tick as the planner's wake-ups
    // do.
    if (std::holds_alternative<TickDue>(event.body)) {
        if (const auto deadline = coordinator_.next_deadline(); deadline && *deadline <= now_)
            from_coordinator(coordinator_.tick(now_), out);
    }
    Event taken = event;
    taken.at = now_;
    to_core(taken, out);
    if (const auto* restored = std::get_if<DecisionRestored>(&event.body)) restore(*restored, out);
    return {};
}

// A decision of an earlier run has to be in the store too: its outcome may still come, and its id must not be
// given again. What the coordinator then says about the same decision the core has just heard.
void Session::restore(const DecisionRestored& earlier, std::vector<Moment>& out) {
    const decision::StoredState& stored = store_.state();
    if (stored.current && *stored.current >= earlier.decision_id) return;
    constexpr double ms_per_second = 1000.0;
    decision::DecisionRecord record;
    record.decision_id = earlier.decision_id;
    record.prefill = earlier.prefill;
    record.decode = earlier.decode;
    record.state = earlier.state;
    record.published_wall_ms =
        static_cast<std::int64_t>(std::floor((seconds_of(now_) - earlier.age.count()) * ms_per_second));
    record.timeout = coordinator_.config().timeout;
    decision::Transaction transaction;
    transaction.expected_revision = stored.revision;
    transaction.put.push_back(record);
    transaction.current = earlier.decision_id;
    transaction.prefill = earlier.prefill;
    transaction.decode = earlier.decode;
    (void)store_.commit(transaction);  // a memory store at its own revision always takes it
    decision::Events events = coordinator_.observe(store_.state(), now_, wall_ms());
    std::erase_if(events, [&](const Event& e) {
        const auto* again = std::get_if<DecisionRestored>(&e.body);
        return again != nullptr && again->decision_id == earlier.decision_id;
    });
    from_coordinator(std::move(events), out);
}

bool Session::feed_quietly(const Event& event, std::vector<Moment>& out) {
    if (!started_ || event.at < now_ || next_wake() < event.at ||
        !std::holds_alternative<FpmArrived>(event.body)) {
        return false;
    }
    now_ = event.at;
    Effects effects = planner_.step(event);
    if (effects.empty()) return true;
    const std::size_t n = effects.size();
    out.push_back(Moment{event, std::move(effects), std::vector<wire::ProposalFate>(n)});
    return true;
}

// Feeds the core, then lets the coordinator answer each proposal before anything else happens.
void Session::to_core(const Event& event, std::vector<Moment>& out) {
    const std::size_t index = out.size();
    out.push_back(Moment{event, planner_.step(event), {}});
    out[index].fates.resize(out[index].effects.size());
    for (std::size_t i = 0; i < out[index].effects.size(); ++i) {
        const auto* scale = std::get_if<ScaleTo>(&out[index].effects[i].body);
        if (scale == nullptr) continue;
        std::string why;
        wire::append_why_json(why, scale->why);
        decision::Events answers = coordinator_.propose(*scale, now_, wall_ms(), std::move(why));
        std::optional<DecisionId> published;
        for (const Event& answer : answers) {
            if (const auto* p = std::get_if<DecisionPublished>(&answer.body)) {
                out[index].fates[i].decision_id = published = p->decision_id;
            } else if (const auto* r = std::get_if<DecisionRefused>(&answer.body)) {
                out[index].fates[i].refused = r->reason;
            }
        }
        from_coordinator(std::move(answers), out);
        if (published && assume_ == Assume::acknowledged)
            from_coordinator(coordinator_.complete(*published, now_).events, out);
    }
}

void Session::from_coordinator(decision::Events events, std::vector<Moment>& out) {
    for (Event& e : events) {
        e.at = std::max(e.at, now_);
        to_core(e, out);
    }
}

std::string Session::save_coordinator() {
    StateWriter writer;
    coordinator_.archive(writer);
    return writer.take();
}

}  // namespace dynaplan::replay
