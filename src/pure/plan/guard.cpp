#include "plan/guard.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace dynaplan::plan {

namespace {

constexpr Seconds deadline_unmeasured{1800.0};
constexpr Seconds deadline_least{600.0};
constexpr double deadline_startups = 3.0;
// Constant load must not reverse within ten minutes: what speaks for shrinking has to have held for as long,
// since the next ten minutes are as likely to bring a burst as the last ones.
constexpr Seconds reversal_horizon{600.0};

TimePoint after(const std::optional<TimePoint>& last, Seconds patience) {
    return last ? *last + patience : at_seconds(-std::numeric_limits<double>::infinity());
}

}  // namespace

Guard::Guard(const PlannerConfig& c)
    : mode_{c.mode},
      always_{c.policy.scaling_guard == ScalingGuard::always},
      deadline_{c.policy.guard_deadline},
      engine_silent_{c.policy.engine_silent},
      averages_window_{c.policy.averages_window},
      tolerant_{c.policy.reconcile == Reconcile::tolerant} {}

void Guard::reconfigure(const PlannerConfig& c) {
    deadline_ = c.policy.guard_deadline;
    engine_silent_ = c.policy.engine_silent;
}

void Guard::settle(TimePoint now) { settled_at_ = now; }

void Guard::bus(bool connected, TimePoint now) {
    if (connected && !connected_) settle(now);
    if (connected != connected_) bus_since_ = now;
    connected_ = connected;
}

void Guard::leader(bool leading, TimePoint now) {
    if (leading && !leading_) settle(now);
    if (leading != leading_) leader_since_ = now;
    leading_ = leading;
}

Seconds Guard::deadline_after(const RoleState& s) const {
    if (deadline_ > Seconds{0.0}) return deadline_;
    return s.startup ? std::max(deadline_startups * *s.startup, deadline_least) : deadline_unmeasured;
}

void Guard::look(Role role, Replicas ready, std::int64_t workers_seen, const Inventory& inventory,
                 TimePoint now) {
    RoleState& s = roles_[role];
    s.inventory = inventory;
    s.workers_seen = workers_seen;
    const bool heard_again = ready_unknown(inventory, now);  // who is, has not started just now
    if (s.pending && !(open_ && open_->proposal)) {
        const bool grew = *s.pending > s.ready && ready >= *s.pending;
        const bool shrank = *s.pending < s.ready && ready <= *s.pending;
        if (grew && !heard_again) s.startup = now - s.since;
        if (grew || shrank || ready == *s.pending) s.pending.reset();
    }
    if (s.looked && ready != s.ready) {
        s.no_room_at = now;  // the new survivors have not shown anything yet
        s.not_ample_at = now;
    }
    if (s.looked && ready > s.ready && !heard_again) s.grown_at = now;
    s.looked = true;
    s.ready = ready;
    const std::optional<Replicas> told = expected_at_rest(s);
    const bool unrest = inventory.rolling || (told && *told != ready);
    if (!unrest) {
        s.unrest_since.reset();
    } else if (!s.unrest_since) {
        s.unrest_since = now;
    }
    const bool missing = tolerant_ && workers_seen < ready.count();
    if (!missing) {
        s.missing_since.reset();
    } else if (!s.missing_since) {
        s.missing_since = now;
    }
}

std::optional<Replicas> Guard::expected(Role role) const {
    const RoleState& s = roles_[role];
    if (always_ && s.pending) return s.pending;
    return expected_at_rest(s);
}

// What the operator expects; one who says nothing at all is taken to follow what was published last (DESIGN
// 6).
std::optional<Replicas> Guard::expected_at_rest(const RoleState& s) {
    if (s.inventory.expected || s.inventory.ready) return s.inventory.expected;
    return s.last_published;
}

Restraint Guard::restraint(Role role, TimePoint now) const {
    Restraint r;
    if (!always_ && leading_) return r;
    const RoleState& s = roles_[role];
    r.lower_windows = s.lower_windows;
    r.lower_since = s.lower_since;
    if (!leading_) {
        r.closed = Reason::standby;
        r.frozen = true;
        r.lower_windows = INT64_MIN / 2;  // not even a sustained wish: another planner decides
        r.lower_since.reset();
        r.since = leader_since_;
        return r;
    }
    if (open_) {
        r.closed = Reason::decision_pending;
        r.frozen = true;
        r.since = open_->since;
        r.deadline = open_->since + std::max(deadline_after(s), deadline_unmeasured);
    } else if (s.pending || s.unrest_since) {
        r.closed = Reason::scaling_in_progress;
        r.since = s.pending ? s.since : *s.unrest_since;
        r.deadline = *r.since + deadline_after(s);
    }
    if (r.deadline && now >= *r.deadline) {  // a hold ends by itself
        r.closed.reset();
        r.frozen = false;
        r.since.reset();
        r.deadline.reset();
    }
    const bool missing = s.missing_since && now - *s.missing_since < engine_silent_;
    if (tolerant_ && (!connected_ || settling(now) || missing)) r.shrink_blocked = Reason::engines_missing;
    r.ready_unknown = ready_unknown(s.inventory, now);
    if (always_ && may_shrink_at(s) > now) r.load_shrink_blocked = Reason::scaling_in_progress;
    if (always_) r.shrink_at_least = s.needed.largest(now - reversal_horizon);
    if (always_ && s.grown_at && now < *s.grown_at + drain_time(s))
        r.load_growth_blocked = Reason::scaling_in_progress;
    if (tolerant_ && settling(now)) {
        r.growth_at_least = std::max(s.last_published.value_or(Replicas{0}), Replicas{s.workers_seen});
    } else if (tolerant_ && !s.inventory.ready && s.ready == Replicas{0} && s.workers_seen > 0) {
        // All have fallen silent at once, and nobody has told that they are gone: the fleet as it was last
        // known.
        r.minimum_at_least = s.last_published.value_or(Replicas{s.workers_seen});
    }
    return r;
}

// A queue that built up while replicas started is worked off before it may ask for more of them: half a
// start-up time.
Seconds Guard::drain_time(const RoleState& s) const {
    return std::max(averages_window_, s.startup.value_or(Seconds{0.0}) / 2.0);
}

// From then on load may shrink the role. One look at the survivors of a scale-down can be fooled by a lull of
// the arrivals: they must have had room at every load tick of ten minutes, or ample room, which no lull of
// the usual size pretends, for as long as the averages look back. A change of the ready count starts this
// anew, and growth has ten minutes to show that it was not for a moment only.
TimePoint Guard::may_shrink_at(const RoleState& s) const {
    const TimePoint shown =
        std::min(after(s.no_room_at, reversal_horizon), after(s.not_ample_at, averages_window_));
    return std::max(shown, after(s.grown_at, reversal_horizon));
}

std::vector<Hold> Guard::holds(TimePoint now) const {
    std::vector<Hold> list;
    for (const Role role : all_roles) {
        if (!has_role(mode_, role)) continue;
        const RoleState& s = roles_[role];
        const Restraint r = restraint(role, now);
        if (r.closed) list.push_back({role, *r.closed, *r.since, r.deadline});
        if (r.shrink_blocked) {
            const bool missing = s.missing_since && now - *s.missing_since < engine_silent_;
            const TimePoint since = !connected_                 ? bus_since_
                                    : settling(now) || !missing ? settled_at_
                                                                : *s.missing_since;
            const auto deadline = connected_ ? std::optional{since + engine_silent_} : std::nullopt;
            list.push_back({role, Reason::engines_missing, since, deadline});
        }
        if (store_down_since_)
            list.push_back({role, Reason::store_unavailable, *store_down_since_, std::nullopt});
    }
    return list;
}

void Guard::asked(const TickResult& result, bool throughput_tick, bool throughput_scaling, TimePoint now) {
    if (!result.scale_to) store_down_since_.reset();  // nothing waits for the store any more
    for (const Role role : all_roles) {
        RoleState& s = roles_[role];
        if (result.room[role] && *result.room[role] == Room::none) s.no_room_at = now;
        if (result.room[role] && *result.room[role] != Room::ample) s.not_ample_at = now;
        s.needed.forget_before(now - reversal_horizon);
        if (always_ && result.needed_with_margin[role]) s.needed.add(now, *result.needed_with_margin[role]);
        if (!result.asked[role]) continue;
        const bool lower = *result.asked[role] < expected(role).value_or(s.ready);
        if (throughput_tick) s.lower_windows = lower ? s.lower_windows + 1 : 0;
        if (!throughput_scaling) {
            if (!lower) {
                s.lower_since.reset();
            } else if (!s.lower_since) {
                s.lower_since = now;
            }
        }
    }
}

void Guard::proposed(ProposalId proposal, const ScalingTarget& target, TimePoint now) {
    for (const Role role : all_roles) {
        RoleState& s = roles_[role];
        s.before = s.pending;
        if (!target[role]) continue;
        s.pending = target[role];
        s.since = now;
        s.lower_windows = 0;
        s.lower_since.reset();
    }
    if (always_) open_ = OpenDecision{proposal, std::nullopt, now};
}

void Guard::published(const DecisionPublished& p, TimePoint now) {
    store_down_since_.reset();
    for (const Role role : all_roles) {
        if (roles_[role].pending) roles_[role].last_published = roles_[role].pending;
    }
    if (!open_ || open_->proposal != p.proposal) return;
    open_->decision = p.decision_id;
    open_->since = now;
}

void Guard::refused(const DecisionRefused& r, TimePoint now) {
    if (r.reason == Refusal::store) {
        if (!store_down_since_) store_down_since_ = now;
    } else {
        store_down_since_.reset();
    }
    if (open_ && open_->proposal != r.proposal) return;
    open_.reset();
    if (r.reason == Refusal::unchanged) return;  // the store says this target already: it stands
    for (const Role role : all_roles) roles_[role].pending = roles_[role].before;
}

// A failed or timed-out decision frees the guard: what is expected falls back to what is ready (DESIGN 6).
void Guard::drop_pending() {
    for (const Role role : all_roles) {
        roles_[role].pending.reset();
        roles_[role].last_published.reset();
    }
}

void Guard::outcome(const DecisionOutcome& o, TimePoint) {
    if (!open_ || !open_->decision || *open_->decision != o.decision_id) return;
    open_.reset();
    if (o.outcome != OutcomeKind::acknowledged) drop_pending();
}

void Guard::restored(const DecisionRestored& d, TimePoint now) {
    settle(now);
    const ScalingTarget target{d.prefill, d.decode};
    const bool stands = d.state == DecisionState::published || d.state == DecisionState::acknowledged;
    for (const Role role : all_roles) {
        if (!target[role]) continue;
        roles_[role].last_published = target[role];
        if (!stands) continue;
        roles_[role].pending = target[role];
        roles_[role].since = now - d.age;
    }
    open_.reset();
    if (always_ && d.state == DecisionState::published)
        open_ = OpenDecision{std::nullopt, d.decision_id, now - d.age};
}

}  // namespace dynaplan::plan
