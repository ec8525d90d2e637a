// The clamps of the reference, each at its own place and with its own label (policy `last_clamp: reference`).
// Source: specification, core semantics 6, 7 and 9.
#pragma once

#include <optional>

#include "core/config.hpp"
#include "core/tick.hpp"
#include "plan/budget.hpp"
#include "plan/load_pass.hpp"

namespace dynaplan::plan {

class ReferenceClamp {
public:
    explicit ReferenceClamp(const PlannerConfig&);

    // Floors, minimum and budget over the load values, labelled; sets the reasons of the proposal.
    [[nodiscard]] std::optional<ScalingTarget> finish_load(LoadProposal&, const PerRole<RoleFacts>&,
                                                           const Budget&) const;
    // The budget over the replica counts of a throughput pass that scales by itself.
    [[nodiscard]] ScalingTarget finish_throughput(const ScalingTarget&, const PerRole<RoleFacts>&,
                                                  const Budget&) const;

private:
    [[nodiscard]] std::optional<ScalingTarget> finish_one(LoadProposal&, const RoleFacts&, Role,
                                                          const Budget&) const;
    [[nodiscard]] std::optional<ScalingTarget> finish_pair(LoadProposal&, const PerRole<RoleFacts>&,
                                                           const Budget&) const;
    [[nodiscard]] PerRole<Replicas> pair_budget(const Budget&, PerRole<Replicas>,
                                                const PerRole<RoleFacts>&) const;
    [[nodiscard]] Replicas single_budget(const Budget&, Role, Replicas, const RoleFacts&) const;

    Mode mode_;
    bool with_floor_;       // throughput scaling sets floors
    bool minimum_always_;   // agg: also when the GPU count is unknown
    bool minimum_caps_;     // agg sla: minimum and budget count as capping
    bool emits_unchanged_;  // single modes and easy agg
    bool shrink_only_;
};

}  // namespace dynaplan::plan
