#include "plan/reference_clamp.hpp"

#include <algorithm>

namespace dynaplan::plan {

ReferenceClamp::ReferenceClamp(const PlannerConfig& c)
    : mode_{c.mode},
      with_floor_{c.enable_throughput_scaling},
      minimum_always_{c.mode == Mode::agg},
      minimum_caps_{c.mode == Mode::agg && !c.easy()},
      emits_unchanged_{!(c.mode == Mode::agg && !c.easy()) &&
                       c.policy.equal_decision == EqualDecision::reference},
      shrink_only_{c.policy.budget_clamp == BudgetClamp::shrink_only} {}

PerRole<Replicas> ReferenceClamp::pair_budget(const Budget& budget, PerRole<Replicas> wanted,
                                              const PerRole<RoleFacts>& roles) const {
    if (!shrink_only_) return budget_pair_reference(budget, wanted);
    return budget_pair_shrink_only(budget, wanted, {roles.prefill.ready, roles.decode.ready});
}

Replicas ReferenceClamp::single_budget(const Budget& budget, Role role, Replicas wanted,
                                       const RoleFacts& facts) const {
    if (!shrink_only_) return budget_single_reference(budget, role, wanted);
    return budget_single_shrink_only(budget, role, std::max(wanted, facts.minimum), facts.ready);
}

namespace {

Reason label(Replicas current, bool capped, Replicas final) {
    if (final > current) return Reason::scale_up;
    if (capped) return Reason::scale_down_capped_by_throughput;
    return final < current ? Reason::scale_down : Reason::no_change;
}

}  // namespace

std::optional<ScalingTarget> ReferenceClamp::finish_load(LoadProposal& proposal,
                                                         const PerRole<RoleFacts>& roles,
                                                         const Budget& budget) const {
    if (!proposal.decided) return std::nullopt;
    if (mode_ == Mode::disagg) return finish_pair(proposal, roles, budget);
    const Role role = mode_ == Mode::prefill ? Role::prefill : Role::decode;
    return finish_one(proposal, roles[role], role, budget);
}

std::optional<ScalingTarget> ReferenceClamp::finish_one(LoadProposal& proposal, const RoleFacts& facts,
                                                        Role role, const Budget& budget) const {
    const Replicas n = facts.ready;
    const Replicas load = *proposal.value[role];
    Replicas desired = load;
    if (minimum_always_) desired = std::max(desired, facts.minimum);
    if (with_floor_) desired = std::max(desired, facts.floor);
    desired = single_budget(budget, role, desired, facts);
    if (minimum_caps_) {
        const bool capped = desired > load && load < n;
        proposal.reason = label(n, capped && desired <= n, desired);
        if (desired == n) return std::nullopt;
    } else {
        proposal.reason = label(n, desired < n && desired > load, desired);
        if (desired == n && !emits_unchanged_) return std::nullopt;
    }
    ScalingTarget target;
    target[role] = desired;
    return target;
}

std::optional<ScalingTarget> ReferenceClamp::finish_pair(LoadProposal& proposal,
                                                         const PerRole<RoleFacts>& roles,
                                                         const Budget& budget) const {
    PerRole<Replicas> load;
    PerRole<Replicas> floored;
    for (const Role role : all_roles) {
        load[role] = proposal.value[role].value_or(roles[role].ready);
        floored[role] = with_floor_ ? std::max(load[role], roles[role].floor) : load[role];
    }
    PerRole<Replicas> wanted;
    for (const Role role : all_roles) wanted[role] = std::max(floored[role], roles[role].minimum);
    const PerRole<Replicas> final = pair_budget(budget, wanted, roles);

    bool changed = false;
    for (const Role role : all_roles) {
        const Replicas current = roles[role].ready;
        const bool capped = floored[role] > load[role] && load[role] < current;
        proposal.reason_of[role] = label(current, capped, final[role]);
        changed = changed || final[role] != current;
    }
    const auto weight = [](Reason r) {
        switch (r) {
            case Reason::scale_up: return 4;
            case Reason::scale_down_capped_by_throughput: return 3;
            case Reason::scale_down: return 2;
            default: return 1;
        }
    };
    const bool prefill_first = weight(*proposal.reason_of.prefill) >= weight(*proposal.reason_of.decode);
    proposal.reason = prefill_first ? proposal.reason_of.prefill : proposal.reason_of.decode;
    if (!changed) return std::nullopt;
    ScalingTarget target;
    for (const Role role : all_roles) {
        if (emits_unchanged_ || final[role] != roles[role].ready) target[role] = final[role];
    }
    return target;
}

ScalingTarget ReferenceClamp::finish_throughput(const ScalingTarget& wanted, const PerRole<RoleFacts>& roles,
                                                const Budget& budget) const {
    ScalingTarget target = wanted;
    if (mode_ == Mode::disagg) {
        const PerRole<Replicas> pair = pair_budget(budget, {*wanted.prefill, *wanted.decode}, roles);
        target.prefill = pair.prefill;
        target.decode = pair.decode;
    } else {
        const Role role = mode_ == Mode::prefill ? Role::prefill : Role::decode;
        target[role] = single_budget(budget, role, *wanted[role], roles[role]);
    }
    return target;
}

}  // namespace dynaplan::plan
