#include "decision/coordinator.hpp"

#include <algorithm>
#include <utility>

#include "core/assert.hpp"

namespace dynaplan::decision {

Coordinator::Coordinator(DecisionStore& store, CoordinatorConfig config)
    : store_{store}, config_{std::move(config)} {}

Events Coordinator::restore(TimePoint now, std::int64_t wall_ms) {
    now_ = now;
    Work work;
    work.task = Task::restore;
    work.now = now;
    work.wall_ms = wall_ms;
    // A full queue means that the store does not answer; the caller sees restored() and tries again.
    (void)enqueue(std::move(work));
    return take_events();
}

void Coordinator::stand_by() {
    restored_ = false;
    // A restore that still waits for its store would take over again.
    for (Work& work : work_) {
        if (work.task == Task::restore) work.task = Task::refresh;
    }
}

void Coordinator::follow(const StoredState& seen) {
    if (restored_ || under_way_ != UnderWay::nothing) return;
    known_ = seen;
    complete_records(known_);
}

Events Coordinator::propose(const ScaleTo& proposal, TimePoint now, std::int64_t wall_ms,
                            std::string why_json) {
    DYNAPLAN_ASSERT(proposal.prefill.value_or(Replicas{0}).count() >= 0);
    DYNAPLAN_ASSERT(proposal.decode.value_or(Replicas{0}).count() >= 0);
    now_ = now;
    Work work;
    work.task = Task::publish;
    work.now = now;
    work.wall_ms = wall_ms;
    work.proposal = proposal.proposal;
    work.prefill = proposal.prefill;
    work.decode = proposal.decode;
    work.reason = proposal.reason;
    work.cancels = proposal.cancels;
    work.why_json = std::move(why_json);
    if (!enqueue(std::move(work))) emit(DecisionRefused{proposal.proposal, Refusal::store});
    return take_events();
}

Settlement Coordinator::complete(DecisionId id, TimePoint now) {
    return settle(id, DecisionState::acknowledged, now);
}
Settlement Coordinator::fail(DecisionId id, TimePoint now) { return settle(id, DecisionState::failed, now); }

Settlement Coordinator::settle(DecisionId id, DecisionState to, TimePoint now) {
    now_ = now;
    Work work;
    work.task = Task::settle;
    work.now = now;
    work.id = id;
    work.to = to;
    work.ticket = tickets_++;
    Settlement answer{Settlement::Status::deferred, work.ticket, std::nullopt, {}};
    if (!enqueue(std::move(work))) answer.status = Settlement::Status::unavailable;
    const auto mine = std::find_if(settled_.begin(), settled_.end(),
                                   [&](const Settlement& s) { return s.ticket == answer.ticket; });
    if (mine != settled_.end()) {
        answer = std::move(*mine);
        settled_.erase(mine);
    }
    answer.events = take_events();
    return answer;
}

Events Coordinator::tick(TimePoint now) {
    now_ = now;
    const auto deadline = next_deadline();
    const bool due = deadline && *deadline <= now;
    const bool queued =
        std::any_of(work_.begin(), work_.end(), [](const Work& w) { return w.task == Task::tick; });
    if ((due || !unwritten_.empty()) && !queued) {
        Work work;
        work.task = Task::tick;
        work.now = now;
        (void)enqueue(std::move(work));  // a full queue: the next tick finds the same
    }
    return take_events();
}

Events Coordinator::observe(const StoredState& seen, TimePoint now, std::int64_t wall_ms) {
    now_ = now;
    if (!restored_) return take_events();
    if (under_way_ == UnderWay::nothing) {
        adopt(seen, wall_ms, false);
    } else {
        // What was seen may be older than the answer that is on its way, so the store is asked after it.
        stale_ = true;
        Work work;
        work.task = Task::refresh;
        work.now = now;
        work.wall_ms = wall_ms;
        (void)enqueue(std::move(work));
    }
    return take_events();
}

Events Coordinator::read_answered(const ReadAnswer& answer, TimePoint now) {
    if (under_way_ != UnderWay::read) return {};  // asked before a load
    now_ = now;
    on_read(answer);
    pump();
    return take_events();
}

Events Coordinator::commit_answered(const CommitAnswer& answer, TimePoint now) {
    if (under_way_ != UnderWay::commit) return {};
    now_ = now;
    on_commit(answer);
    pump();
    return take_events();
}

std::vector<Settlement> Coordinator::take_settled() { return std::exchange(settled_, {}); }

bool Coordinator::enqueue(Work work) {
    if (work_.size() >= work_max) return false;
    work_.push_back(std::move(work));
    pump();
    return true;
}

void Coordinator::pump() {
    while (under_way_ == UnderWay::nothing && !work_.empty()) run(work_.front());
}

// One step of the front work: it either ends, starts a store call, or comes back here after one.
void Coordinator::run(Work& work) {
    if (work.task == Task::restore) return start_read();
    if (!restored_) return give_up(Refusal::store);
    // A time-out is a fact of the clock: it holds whether or not the store can be told.
    if (work.task == Task::tick) expire(std::max(work.now, now_));
    if (stale_) return start_read();
    switch (work.task) {
        case Task::publish: return consider_publish(work);
        case Task::settle: return consider_settle(work);
        case Task::tick: return consider_tick(work);
        case Task::refresh: return work_.pop_front();  // the read has been made
        case Task::restore: break;
    }
    DYNAPLAN_ASSERT(false);
}

void Coordinator::start_read() {
    under_way_ = UnderWay::read;
    if (const auto answer = store_.read()) on_read(*answer);
}

void Coordinator::start_commit(Work& work) {
    work.transaction.expected_revision = known_.revision;
    under_way_ = UnderWay::commit;
    if (const auto answer = store_.commit(work.transaction)) on_commit(*answer);
}

void Coordinator::on_read(const ReadAnswer& answer) {
    under_way_ = UnderWay::nothing;
    Work& work = work_.front();
    if (!answer.state) return give_up(Refusal::store);
    stale_ = false;
    const bool restoring = work.task == Task::restore;
    if (restoring) refused_since_.reset();
    adopt(*answer.state, work.wall_ms, restoring);
    if (!restoring) return;
    restored_ = true;
    work_.pop_front();
}

void Coordinator::on_commit(const CommitAnswer& answer) {
    under_way_ = UnderWay::nothing;
    Work& work = work_.front();
    switch (answer.result) {
        case CommitResult::ok: {
            const bool applied = apply(work.transaction, known_);
            DYNAPLAN_ASSERT(applied);
            known_.revision = answer.revision;
            return committed(work);
        }
        case CommitResult::conflict:
            // V-4: adopt what is there and try once more; a second refusal is the answer.
            if (work.conflicted) {
                stale_ = true;
                return give_up(Refusal::conflict);
            }
            work.conflicted = true;
            if (answer.state) {
                adopt(*answer.state, work.wall_ms, false);
            } else {
                stale_ = true;
            }
            return;
        case CommitResult::failed: return give_up(Refusal::store);
        case CommitResult::unknown: stale_ = true; return give_up(Refusal::store);
    }
    DYNAPLAN_ASSERT(false);
}

// The front work ends without having changed anything.
void Coordinator::give_up(Refusal reason) {
    switch (work_.front().task) {
        case Task::publish: return finish_publish(reason);
        case Task::settle: return finish_settle(Settlement::Status::unavailable);
        case Task::restore:
        case Task::refresh:
        case Task::tick: return work_.pop_front();
    }
}

void Coordinator::finish_publish(Refusal reason) {
    emit(DecisionRefused{work_.front().proposal, reason});
    work_.pop_front();
}

void Coordinator::finish_settle(Settlement::Status status) {
    const Work& work = work_.front();
    const DecisionRecord* record = status == Settlement::Status::unavailable ? nullptr : find(work.id);
    settled_.push_back({status, work.ticket, record ? std::optional{*record} : std::nullopt, {}});
    work_.pop_front();
}

void Coordinator::emit(EventBody body) { out_.push_back(Event{now_, std::move(body)}); }

Events Coordinator::take_events() { return std::exchange(out_, {}); }

}  // namespace dynaplan::decision
