// What the coordinator decides; coordinator.cpp has the calls and the traffic with the store.
#include <algorithm>
#include <cmath>

#include "core/assert.hpp"
#include "decision/coordinator.hpp"

namespace dynaplan::decision {
namespace {

OutcomeKind outcome_of(DecisionState state) {
    switch (state) {
        case DecisionState::acknowledged: return OutcomeKind::acknowledged;
        case DecisionState::failed: return OutcomeKind::failed;
        case DecisionState::timed_out: return OutcomeKind::timed_out;
        case DecisionState::published:
        case DecisionState::superseded: break;
    }
    return OutcomeKind::superseded;
}

template <class Records>
auto lookup(Records& records, DecisionId id) -> decltype(records.data()) {
    const auto place =
        std::lower_bound(records.begin(), records.end(), id,
                         [](const DecisionRecord& r, DecisionId i) { return r.decision_id < i; });
    return place != records.end() && place->decision_id == id ? &*place : nullptr;
}

bool is_over(DecisionState state) { return state != DecisionState::published; }

}  // namespace

const DecisionRecord* Coordinator::find(DecisionId id) const { return lookup(known_.records, id); }
DecisionRecord* Coordinator::record_of(DecisionId id) { return lookup(known_.records, id); }

const DecisionRecord* Coordinator::first_after(DecisionId id) const {
    const auto& records = known_.records;
    const auto place =
        std::upper_bound(records.begin(), records.end(), id,
                         [](DecisionId i, const DecisionRecord& r) { return i < r.decision_id; });
    return place != records.end() ? &*place : nullptr;
}

const DecisionRecord* Coordinator::current() const {
    return known_.current ? find(*known_.current) : nullptr;
}

const DecisionRecord* Coordinator::open() const {
    const DecisionRecord* newest = current();
    return newest && !is_over(newest->state) ? newest : nullptr;
}

DecisionId Coordinator::next_id() const { return highest_ + 1; }

std::optional<TimePoint> Coordinator::next_deadline() const {
    if (config_.timeout_from != TimeoutFrom::publication) return std::nullopt;
    const DecisionRecord* pending = open();
    return pending ? std::optional{published_at_ + pending->timeout} : std::nullopt;
}

// Connectors 1.4, step 1. A role that is not given never asks for a change. After a decision that failed or
// timed out nobody knows what stands, so the same target may be proposed again (DESIGN 6).
bool Coordinator::differs(const Work& work) const {
    if (!work.prefill && !work.decode) return false;
    const DecisionRecord* newest = current();
    if (newest && (newest->state == DecisionState::failed || newest->state == DecisionState::timed_out)) {
        return true;
    }
    return (work.prefill && work.prefill != known_.prefill) || (work.decode && work.decode != known_.decode);
}

// Connectors 1.4, steps 1 to 6.
void Coordinator::consider_publish(Work& work) {
    expire(work.now);
    if (!differs(work)) return finish_publish(Refusal::unchanged);
    const DecisionRecord* pending = open();
    bool forced = false;
    if (pending && !work.cancels) {
        if (config_.timeout_from == TimeoutFrom::publication) return finish_publish(Refusal::not_ready);
        if (!refused_since_) refused_since_ = work.now;
        if (work.now < *refused_since_ + config_.timeout) return finish_publish(Refusal::not_ready);
        forced = true;
    }
    const DecisionRecord* newest = current();
    if (newest && newest->state == DecisionState::timed_out) forced = true;

    Transaction& t = work.transaction;
    t = Transaction{};
    put_unwritten(t);
    if (pending) {
        t.put.push_back(*pending);
        t.put.back().state = DecisionState::superseded;
    }
    t.current = next_id();
    t.prefill = work.prefill ? work.prefill : known_.prefill;
    t.decode = work.decode ? work.decode : known_.decode;
    t.put.push_back(DecisionRecord{.decision_id = *t.current,
                                   .proposal = work.proposal,
                                   .prefill = t.prefill,
                                   .decode = t.decode,
                                   .reason = work.reason,
                                   .state = DecisionState::published,
                                   .published_wall_ms = work.wall_ms,
                                   .timeout = config_.timeout,
                                   .forced = forced,
                                   .why_json = work.why_json});
    const auto& records = known_.records;
    if (records.size() >= records_kept) {
        t.drop_below = records[records.size() - (records_kept - 1)].decision_id;
    }
    start_commit(work);
}

void Coordinator::consider_settle(Work& work) {
    const DecisionRecord* record = find(work.id);
    if (!record) {
        // Older than what is kept: it was published once, and is over. Anything else never was.
        const bool forgotten =
            work.id >= 0 && !known_.records.empty() && work.id < known_.records.front().decision_id;
        return finish_settle(forgotten ? Settlement::Status::done : Settlement::Status::never_published);
    }
    if (is_over(record->state)) return finish_settle(Settlement::Status::done);
    Transaction& t = work.transaction;
    t = Transaction{};
    put_unwritten(t);
    t.put.push_back(*record);
    t.put.back().state = work.to;
    if (work.to == DecisionState::acknowledged) t.acknowledged = work.id;
    start_commit(work);
}

void Coordinator::consider_tick(Work& work) {
    if (unwritten_.empty()) return work_.pop_front();
    work.transaction = Transaction{};
    put_unwritten(work.transaction);
    start_commit(work);
}

// The front work's transaction is in the store, and in known_.
void Coordinator::committed(const Work& work) {
    unwritten_.clear();
    switch (work.task) {
        case Task::publish: {
            const DecisionId id = *work.transaction.current;
            for (const DecisionRecord& put : work.transaction.put) {
                if (put.state == DecisionState::superseded) emit_outcome(put.decision_id, put.state);
            }
            highest_ = id;
            published_at_ = work.now;
            refused_since_.reset();
            emit(DecisionPublished{work.proposal, id});
            return work_.pop_front();
        }
        case Task::settle:
            if (work.transaction.acknowledged) highest_ = std::max(highest_, work.id);
            refused_since_.reset();
            emit_outcome(work.id, work.to);
            return finish_settle(Settlement::Status::done);
        case Task::tick: return work_.pop_front();
        case Task::restore:
        case Task::refresh: break;
    }
    DYNAPLAN_ASSERT(false);
}

// The store's state becomes ours; what it changes for the core is said in events. `announce`: name the newest
// decision even when it is the one that was known.
void Coordinator::adopt(const StoredState& state, std::int64_t wall_ms, bool announce) {
    const DecisionRecord* known_newest = current();
    const auto before = known_newest ? std::optional{*known_newest} : std::nullopt;
    known_ = state;
    complete_records(known_);
    std::erase_if(unwritten_, [this](DecisionId id) {
        DecisionRecord* record = record_of(id);
        if (!record || is_over(record->state)) return true;
        record->state = DecisionState::timed_out;
        return false;
    });
    highest_ = std::max({highest_, known_.current.value_or(-1), known_.acknowledged.value_or(-1),
                         known_.records.empty() ? DecisionId{-1} : known_.records.back().decision_id});

    const DecisionRecord* after = current();
    const bool same = before && after && before->decision_id == after->decision_id;
    if (before && !is_over(before->state) && !same) {
        const DecisionRecord* how = find(before->decision_id);
        emit_outcome(before->decision_id, how ? how->state : DecisionState::superseded);
    }
    if (after) {
        if (!same || announce) published_at_ = now_ - age_of(*after, wall_ms);
        if (announce || !same || (is_over(before->state) && !is_over(after->state))) {
            const Seconds age = std::clamp(now_ - published_at_, Seconds{0.0}, after->timeout);
            emit(DecisionRestored{after->decision_id, after->prefill, after->decode, after->state, age});
        } else if (!is_over(before->state) && is_over(after->state)) {
            emit_outcome(after->decision_id, after->state);
        }
    }
    if (!open()) refused_since_.reset();  // V-7
    expire(now_);
}

// What a foreign coordinator left out is put in, so that every rule finds one record for the newest decision
// and no older one open.
void Coordinator::complete_records(StoredState& state) const {
    auto& records = state.records;
    std::sort(records.begin(), records.end(),
              [](const DecisionRecord& a, const DecisionRecord& b) { return a.decision_id < b.decision_id; });
    if (state.current && !lookup(records, *state.current)) {
        DecisionRecord record;
        record.decision_id = *state.current;
        record.prefill = state.prefill;
        record.decode = state.decode;
        record.timeout = config_.timeout;
        const auto place = std::find_if(records.begin(), records.end(), [&](const DecisionRecord& r) {
            return r.decision_id > record.decision_id;
        });
        records.insert(place, std::move(record));
    }
    for (DecisionRecord& record : records) {
        if (!is_over(record.state) && state.acknowledged && *state.acknowledged >= record.decision_id) {
            record.state = DecisionState::acknowledged;
        }
        if (!is_over(record.state) && record.decision_id != state.current) {
            record.state = DecisionState::superseded;
        }
        if (!(record.timeout.count() >= 0.0) || std::isinf(record.timeout.count())) {
            record.timeout = config_.timeout;
        }
    }
}

// DESIGN 6: the wall time of publication is the store's; a clock that was set is kept from making a decision
// younger than new or older than its time-out.
Seconds Coordinator::age_of(const DecisionRecord& record, std::int64_t wall_ms) const {
    if (!record.published_wall_ms) return Seconds{0.0};
    const Seconds age = Millis{static_cast<double>(wall_ms) - static_cast<double>(*record.published_wall_ms)};
    return std::clamp(age, Seconds{0.0}, record.timeout);
}

void Coordinator::expire(TimePoint now) {
    const auto deadline = next_deadline();
    if (!deadline || now < *deadline) return;
    DecisionRecord* pending = record_of(*known_.current);
    pending->state = DecisionState::timed_out;
    unwritten_.push_back(pending->decision_id);
    refused_since_.reset();
    emit_outcome(pending->decision_id, DecisionState::timed_out);
}

void Coordinator::put_unwritten(Transaction& transaction) const {
    for (const DecisionId id : unwritten_) {
        if (const DecisionRecord* record = find(id)) transaction.put.push_back(*record);
    }
}

void Coordinator::emit_outcome(DecisionId id, DecisionState state) {
    emit(DecisionOutcome{id, outcome_of(state)});
}

}  // namespace dynaplan::decision
