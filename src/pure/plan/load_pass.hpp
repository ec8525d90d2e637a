// The load pass of a tick: what the engines' own reports ask for, before any clamp.
//
// Gates come first (an earlier change in progress, no reports, a count that does not match), then the votes,
// then the votes are combined to one load value per role. How the two sides of a deployment combine is the
// policy `partial_knowledge`: `reference` as core semantics 6 and 7, `per_role` lets no unknown side silence
// the other.
#pragma once

#include <optional>

#include "core/config.hpp"
#include "core/tick.hpp"
#include "model/role_model.hpp"
#include "plan/roster.hpp"
#include "plan/vote.hpp"

namespace dynaplan::plan {

// What the rules know of a role at a tick.
struct RoleFacts {
    Replicas ready{0};
    std::optional<Replicas> expected;
    Replicas minimum{1};
    Replicas floor{1};                       // of throughput scaling
    bool floor_known = false;                // a throughput pass has set it
    std::optional<Replicas> floor_in_force;  // what the step bound let through of it when it was set
    Capabilities capabilities;
    const model::RoleModel* models = nullptr;
    [[nodiscard]] Replicas standing() const { return expected.value_or(ready); }
};

struct LoadInput {
    TimePoint now{};
    PerRole<RoleFacts> roles;
    FpmSnapshot fpm;
    double kv_hit_rate = 0.0;
    std::optional<double> traffic_isl;
};

struct LoadProposal {
    bool decided = false;  // false: nothing is proposed, for `reason`
    PerRole<std::optional<Replicas>>
        value;  // load values; without an opinion of its own a role may have none
    std::optional<Reason> reason;
    PerRole<std::optional<Reason>> reason_of;
    PerRole<std::optional<Room>> room;  // of the survivors of a scale-down; empty where nothing is known
    std::optional<Vote> ttft;           // the votes behind it; easy votes stand under their role's latency
    std::optional<Vote> itl;
    PerRole<std::int64_t> silent{};  // engines left out
    PerRole<std::int64_t> stuck{};
};

class LoadPass {
public:
    explicit LoadPass(const PlannerConfig&);
    [[nodiscard]] LoadProposal run(const LoadInput&);

private:
    using Combine = void (LoadPass::*)(const LoadInput&, LoadProposal&);
    void combine_single(const LoadInput&, LoadProposal&);
    void combine_disagg(const LoadInput&, LoadProposal&);
    void combine_agg(const LoadInput&, LoadProposal&);
    void combine_per_role(const LoadInput&, LoadProposal&);
    void decide_side(const LoadInput&, Role, LoadProposal&);
    void decide_agg_sides(const LoadInput&, LoadProposal&);

    // The gates that a role's votes stand behind; empty when they may vote.
    [[nodiscard]] std::optional<Reason> gate(const LoadInput&, Role);
    [[nodiscard]] Electorate electorate(const LoadInput&, Role) const;
    [[nodiscard]] Vote vote(const LoadInput&, Role, const Signal&) const;
    Vote& side_vote(const LoadInput&, Role, LoadProposal&) const;

    Mode mode_;
    bool easy_;
    bool wait_in_progress_;      // scaling_guard: reference
    bool growth_from_standing_;  // scaling_guard: always
    Combine combine_;
    RosterRule roster_rule_;
    Voting voting_;
    PerRole<Roster> rosters_;
};

}  // namespace dynaplan::plan
