#include "plan/load_pass.hpp"

#include <algorithm>

namespace dynaplan::plan {

namespace {

Role role_of(Mode mode) { return mode == Mode::prefill ? Role::prefill : Role::decode; }

const Signal& signal_of(Mode mode, Latency latency) {
    if (mode == Mode::agg) return latency == Latency::ttft ? agg_ttft : agg_itl;
    return latency == Latency::ttft ? prefill_ttft : decode_itl;
}

bool is(const std::optional<Replicas>& desired, auto compare, Replicas n) {
    return desired && compare(*desired, n);
}

}  // namespace

LoadPass::LoadPass(const PlannerConfig& c)
    : mode_{c.mode},
      easy_{c.easy()},
      wait_in_progress_{c.policy.scaling_guard == ScalingGuard::reference && c.mode != Mode::disagg},
      growth_from_standing_{c.policy.scaling_guard == ScalingGuard::always},
      combine_{&LoadPass::combine_per_role},
      roster_rule_{c.policy},
      voting_{c} {
    if (c.policy.partial_knowledge == PartialKnowledge::reference) {
        combine_ = c.mode == Mode::disagg ? &LoadPass::combine_disagg
                   : c.mode == Mode::agg  ? &LoadPass::combine_agg
                                          : &LoadPass::combine_single;
    }
}

LoadProposal LoadPass::run(const LoadInput& in) {
    LoadProposal proposal;
    for (const Role role : all_roles) {
        if (!has_role(mode_, role)) continue;
        roster_rule_.take(in.fpm[role], in.roles[role].ready, in.now, rosters_[role]);
        proposal.silent[role] = rosters_[role].silent;
        proposal.stuck[role] = rosters_[role].stuck;
    }
    (this->*combine_)(in, proposal);
    return proposal;
}

std::optional<Reason> LoadPass::gate(const LoadInput& in, Role role) {
    const RoleFacts& facts = in.roles[role];
    const bool in_progress = wait_in_progress_ && facts.expected && *facts.expected != facts.ready;
    const bool empty = rosters_[role].engines.empty();
    if (empty && mode_ == Mode::agg) return Reason::no_fpm_data;  // 7.2 asks in this order, 6 in the other
    if (in_progress) return Reason::scaling_in_progress;
    if (empty) return Reason::no_fpm_data;
    if (rosters_[role].mismatch) return Reason::worker_count_mismatch;
    return std::nullopt;
}

Electorate LoadPass::electorate(const LoadInput& in, Role role) const {
    const RoleFacts& facts = in.roles[role];
    Electorate who;
    who.role = role;
    who.ready = facts.ready;
    who.base = growth_from_standing_ ? std::max(facts.ready, facts.standing()) : facts.ready;
    who.minimum = facts.minimum;
    if (facts.floor_known) who.demand_floor = facts.floor;
    who.roster = &rosters_[role];
    who.input = SignalInput::of(*facts.models, facts.capabilities, in.kv_hit_rate, in.traffic_isl, in.now);
    return who;
}

Vote LoadPass::vote(const LoadInput& in, Role role, const Signal& signal) const {
    return easy_ ? voting_.easy(electorate(in, role)) : voting_.sla(signal, electorate(in, role));
}

// The vote of a role that is one side of a deployment, kept for the explanation.
Vote& LoadPass::side_vote(const LoadInput& in, Role role, LoadProposal& proposal) const {
    const Latency latency = role == Role::prefill ? Latency::ttft : Latency::itl;
    std::optional<Vote>& place = latency == Latency::ttft ? proposal.ttft : proposal.itl;
    return place.emplace(vote(in, role, signal_of(mode_, latency)));
}

// Core semantics 6, and 7.3 for an easy aggregated deployment.
void LoadPass::combine_single(const LoadInput& in, LoadProposal& proposal) {
    const Role role = role_of(mode_);
    if (const std::optional<Reason> stop = gate(in, role)) {
        proposal.reason = *stop;
        return;
    }
    const Vote& vote = side_vote(in, role, proposal);
    proposal.reason = vote.reason;
    proposal.decided = vote.desired.has_value();
    proposal.value[role] = vote.desired;
}

// Core semantics 7.1: either side's mismatch stops both; a side without an opinion stays at its ready count.
void LoadPass::combine_disagg(const LoadInput& in, LoadProposal& proposal) {
    bool any = false;
    bool mismatch = false;
    for (const Role role : all_roles) {
        any = any || !rosters_[role].engines.empty();
        mismatch = mismatch || (!rosters_[role].engines.empty() && rosters_[role].mismatch);
    }
    if (!any || mismatch) {
        proposal.reason = any ? Reason::worker_count_mismatch : Reason::no_fpm_data;
        proposal.reason_of = {proposal.reason, proposal.reason};
        return;
    }
    proposal.decided = true;
    for (const Role role : all_roles) {
        proposal.value[role] = in.roles[role].ready;
        if (rosters_[role].engines.empty()) continue;
        const Vote& vote = side_vote(in, role, proposal);
        proposal.value[role] = vote.desired.value_or(in.roles[role].ready);
    }
}

// Core semantics 7.2. "None" covers "no change" as well as "signal missing" (Q01): so it is in the reference.
void LoadPass::combine_agg(const LoadInput& in, LoadProposal& proposal) {
    if (easy_) return combine_single(in, proposal);
    if (const std::optional<Reason> stop = gate(in, Role::decode)) {
        proposal.reason = *stop;
        return;
    }
    const RoleFacts& facts = in.roles.decode;
    if (!facts.models->fleet().sufficient()) {
        proposal.reason = Reason::insufficient_data;
        return;
    }
    proposal.ttft = vote(in, Role::decode, agg_ttft);
    proposal.itl = vote(in, Role::decode, agg_itl);
    if (proposal.ttft->reason == Reason::input_not_finite) {
        proposal.reason = Reason::input_not_finite;
        return;
    }
    const std::optional<Replicas>& p = proposal.ttft->desired;
    const std::optional<Replicas>& d = proposal.itl->desired;
    const Replicas n = facts.ready;
    Replicas desired = n;
    if (is(p, std::greater{}, n)) {
        desired = *p;
    } else if (is(d, std::greater{}, n)) {
        desired = *d;
    } else if (!p && is(d, std::less{}, n)) {
        desired = *d;
    } else if (is(p, std::less{}, n) && is(d, std::less{}, n)) {
        desired = std::max(*p, *d);
    }
    proposal.decided = true;
    proposal.value.decode = desired;
}

void LoadPass::decide_side(const LoadInput& in, Role role, LoadProposal& proposal) {
    if (const std::optional<Reason> stop = gate(in, role)) {
        proposal.reason_of[role] = *stop;
        return;
    }
    const Vote& vote = side_vote(in, role, proposal);
    proposal.reason_of[role] = vote.reason;
    proposal.value[role] = vote.desired;
    proposal.room[role] = vote.room;
}

// Grows on either side; shrinks only if both are known and below (case A09, Q01, Q11).
void LoadPass::decide_agg_sides(const LoadInput& in, LoadProposal& proposal) {
    if (const std::optional<Reason> stop = gate(in, Role::decode)) {
        proposal.reason = *stop;
        return;
    }
    proposal.ttft = vote(in, Role::decode, agg_ttft);
    proposal.itl = vote(in, Role::decode, agg_itl);
    proposal.reason_of = {proposal.ttft->reason, proposal.itl->reason};
    const Vote& p = *proposal.ttft;
    const Vote& d = *proposal.itl;
    proposal.room.decode = p.room && d.room ? std::min(p.room, d.room) : p.room ? p.room : d.room;
    const auto grows = [](const Vote& v) { return v.reason == Reason::scale_up; };
    const auto shrinks = [](const Vote& v) { return v.reason == Reason::scale_down; };
    if (grows(p) || grows(d)) {
        proposal.reason = Reason::scale_up;
        proposal.value.decode =
            std::max(grows(p) ? *p.desired : Replicas{0}, grows(d) ? *d.desired : Replicas{0});
    } else if (shrinks(p) && shrinks(d)) {
        proposal.reason = Reason::scale_down;
        proposal.value.decode = std::max(*p.desired, *d.desired);
    } else if (!p.known() || !d.known()) {
        proposal.reason = !p.known() ? p.reason : d.reason;
    } else {
        proposal.reason = p.reason != Reason::no_change && !shrinks(p) ? p.reason
                          : !shrinks(d)                                ? d.reason
                                                                       : Reason::no_change;
    }
}

void LoadPass::combine_per_role(const LoadInput& in, LoadProposal& proposal) {
    if (mode_ == Mode::agg && !easy_) {
        decide_agg_sides(in, proposal);
    } else {
        for (const Role role : all_roles) {
            if (has_role(mode_, role)) decide_side(in, role, proposal);
        }
        // The aggregate: what moves first, else the first reason that is not "no change".
        const auto weight = [](const std::optional<Reason>& r) {
            if (!r) return 0;
            switch (*r) {
                case Reason::scale_up: return 4;
                case Reason::scale_down: return 3;
                case Reason::no_change: return 1;
                default: return 2;
            }
        };
        const bool prefill_first = weight(proposal.reason_of.prefill) >= weight(proposal.reason_of.decode);
        proposal.reason = prefill_first ? proposal.reason_of.prefill : proposal.reason_of.decode;
        if (mode_ != Mode::disagg) proposal.reason_of = {};
    }
    proposal.decided = proposal.value.prefill || proposal.value.decode;
}

}  // namespace dynaplan::plan
