// One clamp after all proposals (policy `last_clamp: always`), in a fixed order: step bound, guard, minimum,
// floor, budget. Each stage that changes a role's proposal writes its name into the role's `why`. Cases
// A14-A18, A21.
#pragma once

#include <optional>

#include "core/config.hpp"
#include "core/tick.hpp"
#include "plan/budget.hpp"
#include "plan/load_pass.hpp"
#include "plan/throughput_pass.hpp"

namespace dynaplan::plan {

struct ClampInput {
    TimePoint now{};
    bool throughput_tick = false;
    bool arrivals = false;          // the last traffic reading counted a request
    bool idle = false;              // traffic has been idle for idle_windows
    bool window_idle = false;       // this window's traffic was idle
    std::optional<Reason> unknown;  // traffic could not be read: nothing shrinks on what is not known
    const LoadProposal* load = nullptr;
    const ThroughputProposal* throughput = nullptr;
    const PerRole<RoleFacts>* roles = nullptr;
    const PerRole<Restraint>* restraint = nullptr;
    const Budget* budget = nullptr;
};

struct ClampResult {
    std::optional<ScalingTarget> target;
    Reason reason = Reason::no_change;
    bool cancels = false;
    PerRole<std::optional<Replicas>> asked;
    PerRole<std::optional<Reason>> held;              // a restraint kept the role from following its proposal
    PerRole<std::optional<Replicas>> floor_in_force;  // for the ticks until the next throughput pass
};

class FinalClamp {
public:
    explicit FinalClamp(const PlannerConfig&);
    // `why` has an entry for each role of the mode; clamps are appended there.
    [[nodiscard]] ClampResult apply(const ClampInput&, Why& why) const;

private:
    struct Course {  // of one role through the stages
        Replicas standing{};
        Replicas wanted{};  // before any stage
        Replicas target{};
        Reason source = Reason::no_change;
        bool cancels = false;
        std::optional<Reason> held;
    };
    [[nodiscard]] Course proposal(const ClampInput&, Role) const;
    [[nodiscard]] Replicas minimum(const ClampInput&, Role) const;
    [[nodiscard]] bool lowering_sustained(const ClampInput&, const Restraint&) const;
    // What a shrinking has to leave, by the forecasts of the last ten minutes and of this tick.
    [[nodiscard]] static std::optional<Replicas> needed(const ClampInput&, Role);
    void guard(const ClampInput&, Role, Course&) const;
    void stage(Course&, Replicas value, ClampStage, std::vector<ClampStage>&) const;
    [[nodiscard]] static PerRole<Replicas> kept(const ClampInput&, const PerRole<Course>&);
    [[nodiscard]] std::optional<Reason> held_by(const Course&, const std::vector<ClampStage>&) const;
    [[nodiscard]] Reason reason_of(const Course&, const std::vector<ClampStage>&) const;

    Mode mode_;
    bool throughput_;
    bool load_;
    std::int64_t step_max_;
    bool zero_allowed_;
    bool suppress_equal_;
    bool shrink_only_;
};

}  // namespace dynaplan::plan
