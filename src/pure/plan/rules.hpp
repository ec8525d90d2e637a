// The decision rules: one tick in, one answer out, by the reference's own contract (specification, core
// semantics).
//
// State: models, predictors, floors, the last KV hit rate, the last counts, and when the next load and
// throughput ticks are due. Nothing else: engines, guard and decisions are the Planner's, who hands in what
// they say. Both presets are this one code path; the policy fields choose the parts at construction.
//
// One thread. Nothing fails: what cannot be decided has a Reason.
#pragma once

#include <limits>
#include <optional>
#include <span>

#include "core/config.hpp"
#include "core/tick.hpp"
#include "model/role_model.hpp"
#include "plan/budget.hpp"
#include "plan/final_clamp.hpp"
#include "plan/load_pass.hpp"
#include "plan/reference_clamp.hpp"
#include "plan/throughput_pass.hpp"

namespace dynaplan::plan {

class Rules {
public:
    explicit Rules(const PlannerConfig&);

    // Replaces what is known of the engines. `num_gpu` unknown: the configuration's count stands in under no
    // preset; hand it in.
    void set_capabilities(const PerRole<Capabilities>&);
    // Traffic before anything else: feeds the predictors of requests, ISL and OSL.
    void warm(std::span<const Traffic>);
    // Benchmark passes of a role, before anything else.
    void bootstrap(Role, std::span<const ForwardPass>);

    ScheduledTick initial_tick(TimePoint start);
    TickResult on_tick(const ScheduledTick&, const TickInput&);

    // fpm_sampling: every. A report as it arrives; false if it was set aside as a warm-up outlier.
    bool observe(Role, EngineIndex, const ForwardPass&, TimePoint now);
    void forget(Role, EngineIndex);
    [[nodiscard]] bool observes_every() const { return every_; }

    // True when the engine's own estimate is above its target now: what pulls a load tick nearer.
    [[nodiscard]] bool in_breach(Role, const EngineObservation&, TimePoint now) const;

    // Fields that may change while running; state stays.
    void reconfigure(const PlannerConfig&);

    [[nodiscard]] const PlannerConfig& config() const { return config_; }
    [[nodiscard]] const model::RoleModel& models(Role role) const { return models_[role]; }
    [[nodiscard]] std::optional<double> last_kv_hit_rate() const { return throughput_.last_kv_hit_rate(); }
    [[nodiscard]] Replicas floor(Role role) const { return floors_[role]; }
    [[nodiscard]] bool arrivals() const { return throughput_.arrivals(); }
    // A reading that no tick asked for: keeps its hit rate and whether requests arrive.
    void observe_traffic(const Reading<Traffic>&, Seconds window);

    template <class Archive>
    void archive(Archive& a) {
        for (const Role role : all_roles) a(models_[role]);
        a(throughput_, ready_, expected_, capabilities_, floors_, floor_known_, floor_in_force_, next_load_,
          next_throughput_);
    }

private:
    struct Models {  // of each role; an aggregated deployment has one, under decode
        model::RoleModel prefill;
        model::RoleModel decode;
        model::RoleModel& operator[](Role r) { return r == Role::prefill ? prefill : decode; }
        const model::RoleModel& operator[](Role r) const { return r == Role::prefill ? prefill : decode; }
    };

    void take_inventory(const WorkerCounts&);
    [[nodiscard]] PerRole<RoleFacts> facts() const;
    [[nodiscard]] Budget budget() const;
    [[nodiscard]] ScheduledTick next_tick() const;
    ThroughputProposal run_throughput(const TickInput&, const ScheduledTick&, TickResult&);
    LoadProposal run_load(const TickInput&, TickResult&);
    void explain(const LoadProposal&, const ThroughputProposal&, TickResult&) const;
    void finish_reference(LoadProposal&, const ThroughputProposal&, TickResult&) const;
    void finish_always(const TickInput&, const ScheduledTick&, LoadProposal&, const ThroughputProposal&,
                       TickResult&);
    static void report(const LoadProposal&, Diagnostics&);

    static constexpr TimePoint never = at_seconds(std::numeric_limits<double>::infinity());

    PlannerConfig config_;
    bool every_;
    bool always_clamp_;
    bool engine_isl_;  // regression_scope: engine takes the traffic's ISL where it is known
    Models models_;
    ThroughputPass throughput_;
    LoadPass load_;
    ReferenceClamp reference_clamp_;
    FinalClamp final_clamp_;

    PerRole<Replicas> ready_;
    PerRole<std::optional<Replicas>> expected_;
    PerRole<Capabilities> capabilities_;
    PerRole<Replicas> floors_{Replicas{1}, Replicas{1}};
    bool floor_known_ = false;
    PerRole<std::optional<Replicas>> floor_in_force_;
    TimePoint next_load_ = never;
    TimePoint next_throughput_ = never;
};

}  // namespace dynaplan::plan
