#include "plan/final_clamp.hpp"

#include <algorithm>

namespace dynaplan::plan {

namespace {

constexpr std::int64_t lower_windows_needed = 3;  // DESIGN 5.2, scaling_guard
constexpr Seconds lower_time_needed{180.0};

}  // namespace

FinalClamp::FinalClamp(const PlannerConfig& c)
    : mode_{c.mode},
      throughput_{c.enable_throughput_scaling},
      load_{c.enable_load_scaling},
      step_max_{c.policy.decision_step_max},
      zero_allowed_{c.policy.scale_to_zero == ScaleToZero::with_minimum_zero},
      suppress_equal_{c.policy.equal_decision == EqualDecision::suppress},
      shrink_only_{c.policy.budget_clamp == BudgetClamp::shrink_only} {}

// Zero replicas are for traffic that is known to have stopped; any other time a minimum of zero means one.
Replicas FinalClamp::minimum(const ClampInput& in, Role role) const {
    const Replicas configured = (*in.roles)[role].minimum;
    const auto& silent = (*in.restraint)[role].minimum_at_least;
    if (silent && *silent > configured) return *silent;
    if (configured > Replicas{0}) return configured;
    return zero_allowed_ && (in.idle || (*in.roles)[role].standing() == Replicas{0}) ? Replicas{0}
                                                                                     : Replicas{1};
}

// What the role would get if nothing restrained it.
FinalClamp::Course FinalClamp::proposal(const ClampInput& in, Role role) const {
    const RoleFacts& facts = (*in.roles)[role];
    const std::optional<Replicas>& load = in.load->value[role];
    const std::optional<Replicas>& throughput = in.throughput->replicas[role];
    Course c;
    c.standing = facts.standing();
    c.wanted = c.standing;
    const bool pending = facts.standing() > facts.ready && (*in.restraint)[role].closed;
    if (c.standing == Replicas{0} && in.arrivals) {
        c.wanted = std::max(Replicas{1}, facts.minimum);
        c.source = Reason::scale_from_zero;
    } else if (in.idle && in.throughput->decided && throughput && !(load && *load > facts.ready)) {
        c.wanted = *throughput;
        c.source = Reason::scale;
    } else if (load && *load != facts.ready) {
        c.wanted = *load;
        c.source = *load > facts.ready ? Reason::scale_up : Reason::scale_down;
    } else if (throughput_ && !load_ && in.throughput->decided && throughput) {
        c.wanted = *throughput;
        c.source = Reason::scale;
    } else if (pending && in.throughput_tick && in.throughput->decided) {
        // What is pending was asked for once: now demand says what of it is still wanted.
        c.wanted = std::max(facts.floor, facts.ready);
        c.source = Reason::scale;
    }
    if (pending && in.window_idle && !(load && *load > facts.ready)) {
        c.wanted = std::min(c.wanted, std::max(facts.ready, minimum(in, role)));
        c.source = Reason::scale;
    }
    c.target = c.wanted;
    return c;
}

bool FinalClamp::lowering_sustained(const ClampInput& in, const Restraint& r) const {
    if (in.throughput_tick) return r.lower_windows + 1 >= lower_windows_needed;
    return !throughput_ && r.lower_since && in.now - *r.lower_since >= lower_time_needed;
}

std::optional<Replicas> FinalClamp::needed(const ClampInput& in, Role role) {
    std::optional<Replicas> least = (*in.restraint)[role].shrink_at_least;
    if (in.throughput->decided) least = std::max(least, in.throughput->with_margin[role]);
    return least;
}

void FinalClamp::guard(const ClampInput& in, Role role, Course& c) const {
    const Restraint& r = (*in.restraint)[role];
    const RoleFacts& facts = (*in.roles)[role];
    const Replicas before = c.target;
    if (r.closed) {
        if (c.target < c.standing && lowering_sustained(in, r)) {
            // What is still pending may be taken back; what serves already may not be taken for it.
            c.target = std::max(c.target, std::min(c.standing, std::max(facts.ready, minimum(in, role))));
            c.cancels = c.target < c.standing;
        } else if (c.target < c.standing) {
            c.target = c.standing;
        } else if (r.frozen && c.source == Reason::scale_from_zero && r.closed != Reason::standby) {
            c.cancels = true;  // requests have come: the way to zero is taken back at once
        } else if (r.frozen) {
            c.target = std::min(c.target, c.standing);
        } else if (c.source != Reason::scale) {
            // A forecast says how many replicas are needed in all; it may be followed while others start. A
            // step of load scaling has been taken already and must not be taken twice; but a shrinking that
            // is still under way may be taken back.
            c.target = std::min(c.target, std::max(c.standing, facts.ready));
        }
        if (c.target != before || c.target == c.standing) c.held = r.closed;
    }
    const std::optional<Reason>& blind = r.shrink_blocked ? r.shrink_blocked : in.unknown;
    if (blind && c.target < c.standing && !c.cancels) {
        c.target = c.standing;
        c.held = blind;
    }
    // Forecasts differ from window to window: no shrinking below what one of the last ten minutes needed.
    // That traffic has stopped is known, not forecast.
    if (const auto least = needed(in, role); least && c.target < c.standing && !c.cancels && !in.idle) {
        c.target = std::max(c.target, std::min(c.standing, *least));
        if (c.target == c.standing) c.held = Reason::scale_down_capped_by_throughput;
    }
    if (r.load_shrink_blocked && c.source == Reason::scale_down && c.target < c.standing && !c.cancels) {
        c.target = c.standing;
        c.held = r.load_shrink_blocked;
    }
    if (r.load_growth_blocked && c.source == Reason::scale_up && c.target > c.standing) {
        c.target = c.standing;
        c.held = r.load_growth_blocked;
    }
    if (r.growth_at_least && c.target > c.standing) {
        c.target = std::max(c.target, *r.growth_at_least + (c.target - c.standing));
    }
}

void FinalClamp::stage(Course& c, Replicas value, ClampStage name, std::vector<ClampStage>& clamps) const {
    if (value == c.target) return;
    c.target = value;
    clamps.push_back(name);
}

Reason FinalClamp::reason_of(const Course& c, const std::vector<ClampStage>& clamps) const {
    if (clamps.empty() || c.source == Reason::scale_from_zero) return c.source;
    switch (clamps.back()) {
        case ClampStage::step: return Reason::step_capped;
        case ClampStage::guard: return c.cancels ? c.source : c.held.value_or(c.source);
        case ClampStage::minimum: return Reason::minimum_applied;
        case ClampStage::floor: return Reason::floor_applied;
        case ClampStage::budget: return Reason::budget_capped;
    }
    return c.source;
}

// What one role's growth may not take from the other: what serves, and what is on its way, which has been
// decided and counts against the budget already (case A15). Where both do not fit, what serves alone.
PerRole<Replicas> FinalClamp::kept(const ClampInput& in, const PerRole<Course>& course) {
    const PerRole<RoleFacts>& roles = *in.roles;
    const PerRole<Replicas> serving{roles.prefill.ready, roles.decode.ready};
    PerRole<Replicas> decided = serving;
    for (const Role role : all_roles) {
        if ((*in.restraint)[role].closed) decided[role] = std::max(decided[role], course[role].standing);
    }
    const PerRole<Replicas> fitted = budget_pair_shrink_only(*in.budget, decided, decided);
    return fitted.prefill == decided.prefill && fitted.decode == decided.decode ? decided : serving;
}

// What kept the role where it stands, if it would have moved.
std::optional<Reason> FinalClamp::held_by(const Course& c, const std::vector<ClampStage>& clamps) const {
    if (c.held || c.wanted == c.standing || clamps.empty()) return c.held;
    const bool floor = std::find(clamps.begin(), clamps.end(), ClampStage::floor) != clamps.end();
    return floor && c.wanted < c.standing ? Reason::scale_down_capped_by_throughput : reason_of(c, clamps);
}

ClampResult FinalClamp::apply(const ClampInput& in, Why& why) const {
    ClampResult result;
    PerRole<Course> course;
    PerRole<bool> frozen{};
    for (const Role role : all_roles) {
        if (!has_role(mode_, role)) continue;
        const RoleFacts& facts = (*in.roles)[role];
        const Restraint& restraint = (*in.restraint)[role];
        std::vector<ClampStage>& clamps = why.role[role]->clamps;
        Course& c = course[role] = proposal(in, role);
        result.asked[role] = c.wanted;

        const Replicas lowest{step_max_ > 0 ? c.standing.count() - step_max_ : INT64_MIN};
        const Replicas highest{step_max_ > 0 ? c.standing.count() + step_max_ : INT64_MAX};
        stage(c, std::clamp(c.target, lowest, highest), ClampStage::step, clamps);
        // The floor is a proposal like any other and is capped by the step (case A16), once for each
        // throughput pass that makes it: the load ticks in between must not climb on, step by step.
        const bool fresh = in.throughput_tick && in.throughput->decided;
        const Replicas most = fresh ? highest : std::min(highest, facts.floor_in_force.value_or(highest));
        const Replicas floor = std::clamp(facts.floor, std::min(lowest, most), most);
        if (fresh) result.floor_in_force[role] = std::min(facts.floor, highest);
        const Replicas before_guard = c.target;
        guard(in, role, c);
        if (c.target != before_guard) clamps.push_back(ClampStage::guard);
        frozen[role] = restraint.closed && restraint.frozen && !c.cancels;
        if (frozen[role]) continue;
        const Replicas least = minimum(in, role);
        if (c.target < least && restraint.ready_unknown && c.target == c.standing) {
            c.held = restraint.shrink_blocked;  // to whoever has more, the minimum would be a shrinking
        } else {
            stage(c, std::max(c.target, least), ClampStage::minimum, clamps);
        }
        if (throughput_ && load_ && facts.floor_known) {
            if (floor > c.target) {
                stage(c, floor, ClampStage::floor, clamps);
                if (floor != facts.floor) clamps.push_back(ClampStage::step);
            }
        }
    }

    if (mode_ == Mode::disagg) {
        const PerRole<Replicas> wanted{course.prefill.target, course.decode.target};
        const PerRole<Replicas> final = shrink_only_
                                            ? budget_pair_shrink_only(*in.budget, wanted, kept(in, course))
                                            : budget_pair_reference(*in.budget, wanted);
        for (const Role role : all_roles) {
            if (!frozen[role]) stage(course[role], final[role], ClampStage::budget, why.role[role]->clamps);
        }
    } else {
        const Role role = mode_ == Mode::prefill ? Role::prefill : Role::decode;
        Course& c = course[role];
        const Replicas final =
            shrink_only_ ? budget_single_shrink_only(*in.budget, role, c.target, (*in.roles)[role].ready)
                         : budget_single_reference(*in.budget, role, c.target);
        if (!frozen[role]) stage(c, final, ClampStage::budget, why.role[role]->clamps);
    }

    ScalingTarget target;
    bool any = false;
    for (const Role role : all_roles) {
        if (!has_role(mode_, role)) continue;
        const Course& c = course[role];
        if (c.target == c.standing) result.held[role] = held_by(c, why.role[role]->clamps);
        if (c.target == c.standing && suppress_equal_) continue;
        target[role] = c.target;
        if (c.target == c.standing) continue;
        const bool up = c.target > c.standing;
        const Reason reason = reason_of(c, why.role[role]->clamps);
        if (!any || up) result.reason = reason;
        any = true;
        result.cancels = result.cancels || c.cancels;
    }
    if (any) result.target = target;
    return result;
}

}  // namespace dynaplan::plan
