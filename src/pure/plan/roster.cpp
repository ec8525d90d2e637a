#include "plan/roster.hpp"

#include <algorithm>

namespace dynaplan::plan {

namespace {

bool has_queued_work(const ForwardPass& pass) {
    return pass.queued.num_prefill_requests > 0 || pass.queued.sum_prefill_tokens > 0 ||
           pass.queued.num_decode_requests > 0 || pass.queued.sum_decode_kv_tokens > 0;
}

}  // namespace

RosterRule::RosterRule(const Policy& policy)
    : rule_{policy.reconcile == Reconcile::strict ? &RosterRule::take_strict : &RosterRule::take_tolerant},
      engine_silent_{policy.engine_silent},
      engine_stuck_{policy.engine_stuck} {}

void RosterRule::take(std::span<const EngineObservation> reported, Replicas ready, TimePoint now,
                      Roster& roster) {
    roster.engines.clear();
    roster.workers = roster.silent = roster.stuck = 0;
    roster.mismatch = false;
    ++round_;
    (this->*rule_)(reported, ready, now, roster);
}

std::int64_t& RosterRule::ranks_of(WorkerIndex worker) {
    const std::size_t i = number_of(worker);
    if (i >= ranks_.size()) ranks_.resize(i + 1);
    RankCount& count = ranks_[i];
    if (count.round != round_) count = RankCount{round_, 0};
    return count.ranks;
}

void RosterRule::take_strict(std::span<const EngineObservation> reported, Replicas ready, TimePoint,
                             Roster& roster) {
    std::int64_t ranks_most = 0;
    roster.engines.reserve(reported.size());
    for (const EngineObservation& e : reported) {
        roster.engines.push_back(&e);
        const std::int64_t ranks = ++ranks_of(e.worker);
        if (ranks == 1) ++roster.workers;
        ranks_most = std::max(ranks_most, ranks);
    }
    // All workers have the same number of ranks exactly if none has fewer than the largest number.
    const auto entries = static_cast<std::int64_t>(reported.size());
    roster.mismatch = roster.workers != ready.count() || entries != roster.workers * ranks_most;
}

void RosterRule::take_tolerant(std::span<const EngineObservation> reported, Replicas, TimePoint now,
                               Roster& roster) {
    for (const EngineObservation& e : reported) {
        if (now - e.heard_at >= engine_silent_) {
            ++roster.silent;
        } else if (has_queued_work(e.pass) && now - e.advanced_at >= engine_stuck_) {
            ++roster.stuck;
        } else {
            roster.engines.push_back(&e);
            if (ranks_of(e.worker)++ == 0) ++roster.workers;
        }
    }
}

}  // namespace dynaplan::plan
