#include "core/policy.hpp"

namespace dynaplan {

Policy dynamo_policy() {
    Policy p;
    p.fpm_sampling = FpmSampling::latest_per_tick;
    p.regression_scope = RegressionScope::fleet;
    p.averages = Averages::counted;
    p.regression_fit = RegressionFit::ols;
    p.retirement = Retirement::reference;
    p.warmup_outlier = 0.0;
    p.axis_bounds = AxisBounds::reference;
    p.reconcile = Reconcile::strict;
    p.partial_knowledge = PartialKnowledge::reference;
    p.scaling_guard = ScalingGuard::reference;
    p.scale_down_check = ScaleDownCheck::threshold;
    p.unreachable_sla = UnreachableSla::reference;
    p.trigger = Trigger::tick;
    p.load_step = LoadStep::one;
    p.decision_step_max = 0;
    p.traffic_unknown = TrafficUnknown::reference;
    p.traffic_idle = TrafficIdle::reference;
    p.forecast_bound = ForecastBound::none;
    p.kalman_warmup = KalmanWarmup::ignored;
    p.hit_rate = HitRate::forecast;
    p.arima_search = ArimaSearch::upstream;
    p.last_clamp = LastClamp::reference;
    p.budget_clamp = BudgetClamp::reference;
    p.infeasible_budget = InfeasibleBudget::zero;
    p.scale_to_zero = ScaleToZero::never;
    p.equal_decision = EqualDecision::reference;
    p.estimate_floor = EstimateFloor::reference;
    return p;
}

Policy policy_of(Preset preset) { return preset == Preset::dynamo ? dynamo_policy() : Policy{}; }

}  // namespace dynaplan
