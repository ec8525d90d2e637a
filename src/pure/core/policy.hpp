// The policy: every point where the default preset departs from the reference planner, one field each.
// DESIGN 5.2 gives the reason of each; core/policy_fields.cpp carries name, values and help for the
// configuration. A field is read in one place, at construction of the part that it shapes.
#pragma once

#include <cstdint>

#include "core/units.hpp"

namespace dynaplan {

enum class Preset : std::uint8_t { dynamo, dynaplan };

enum class FpmSampling : std::uint8_t { latest_per_tick, every };
enum class RegressionScope : std::uint8_t { fleet, engine };
enum class Averages : std::uint8_t { counted, timed };
enum class RegressionFit : std::uint8_t { ols, nonnegative };
enum class Retirement : std::uint8_t { reference, oldest };
enum class AxisBounds : std::uint8_t { reference, robust };
enum class Reconcile : std::uint8_t { strict, tolerant };
enum class PartialKnowledge : std::uint8_t { reference, per_role };
enum class ScalingGuard : std::uint8_t { reference, always };
enum class ScaleDownCheck : std::uint8_t { threshold, consolidation };
enum class UnreachableSla : std::uint8_t { reference, ignore };
enum class Trigger : std::uint8_t { tick, event };
enum class LoadStep : std::uint8_t { one, queue };
enum class TrafficUnknown : std::uint8_t { reference, hold };
enum class TrafficIdle : std::uint8_t { reference, carry_lengths };
enum class ForecastBound : std::uint8_t { none, zero };
enum class KalmanWarmup : std::uint8_t { ignored, last_value };
enum class HitRate : std::uint8_t { forecast, last_value };
enum class ArimaSearch : std::uint8_t { upstream, strict };
enum class LastClamp : std::uint8_t { reference, always };
enum class BudgetClamp : std::uint8_t { reference, shrink_only };
enum class InfeasibleBudget : std::uint8_t { zero, refuse };
enum class ScaleToZero : std::uint8_t { never, with_minimum_zero };
enum class EqualDecision : std::uint8_t { reference, suppress };
enum class EstimateFloor : std::uint8_t { reference, fit_range };

// The initialisers are those of `preset: dynaplan`; dynamo_policy() gives the reference's.
struct Policy {
    FpmSampling fpm_sampling = FpmSampling::every;
    RegressionScope regression_scope = RegressionScope::engine;
    Averages averages = Averages::timed;
    Seconds averages_window{60.0};
    RegressionFit regression_fit = RegressionFit::nonnegative;
    Retirement retirement = Retirement::oldest;
    double warmup_outlier = 3.0;  // times the trusted prediction; 0 = off
    AxisBounds axis_bounds = AxisBounds::robust;
    Reconcile reconcile = Reconcile::tolerant;
    Seconds engine_silent{10.0};  // a silent engine blocks shrinking until it is this old
    Seconds engine_stuck{60.0};   // work queued and no pass for so long: left out
    PartialKnowledge partial_knowledge = PartialKnowledge::per_role;
    ScalingGuard scaling_guard = ScalingGuard::always;
    Seconds guard_deadline{0.0};  // 0 = max(3 x measured start-up, 600), 1800 while unmeasured
    ScaleDownCheck scale_down_check = ScaleDownCheck::consolidation;
    UnreachableSla unreachable_sla = UnreachableSla::ignore;
    Trigger trigger = Trigger::event;
    Seconds reaction_min_interval{0.25};
    LoadStep load_step = LoadStep::queue;
    std::int64_t decision_step_max = 8;  // replicas per role and decision; 0 = none
    TrafficUnknown traffic_unknown = TrafficUnknown::hold;
    TrafficIdle traffic_idle = TrafficIdle::carry_lengths;
    std::int64_t idle_windows = 3;  // throughput windows
    ForecastBound forecast_bound = ForecastBound::zero;
    KalmanWarmup kalman_warmup = KalmanWarmup::last_value;
    HitRate hit_rate = HitRate::last_value;
    ArimaSearch arima_search = ArimaSearch::strict;
    LastClamp last_clamp = LastClamp::always;
    BudgetClamp budget_clamp = BudgetClamp::shrink_only;
    InfeasibleBudget infeasible_budget = InfeasibleBudget::refuse;
    ScaleToZero scale_to_zero = ScaleToZero::with_minimum_zero;
    EqualDecision equal_decision = EqualDecision::suppress;
    EstimateFloor estimate_floor = EstimateFloor::fit_range;
    bool operator==(const Policy&) const = default;
};

Policy dynamo_policy();
Policy policy_of(Preset);

}  // namespace dynaplan
