// The rows of `policy:`, in the order of the table in the design (5.2), which gives the reason of each.
#include "core/config_field_row.hpp"

namespace dynaplan::fields {

// One line per enum: its names in its order.
#define DYNAPLAN_NAMES(Enum, ...)                                                    \
    template <>                                                                      \
    struct Names<Enum> {                                                             \
        static constexpr auto list = std::to_array<std::string_view>({__VA_ARGS__}); \
    }

DYNAPLAN_NAMES(FpmSampling, "latest_per_tick", "every");
DYNAPLAN_NAMES(RegressionScope, "fleet", "engine");
DYNAPLAN_NAMES(Averages, "counted", "timed");
DYNAPLAN_NAMES(RegressionFit, "ols", "nonnegative");
DYNAPLAN_NAMES(Retirement, "reference", "oldest");
DYNAPLAN_NAMES(AxisBounds, "reference", "robust");
DYNAPLAN_NAMES(Reconcile, "strict", "tolerant");
DYNAPLAN_NAMES(PartialKnowledge, "reference", "per_role");
DYNAPLAN_NAMES(ScalingGuard, "reference", "always");
DYNAPLAN_NAMES(ScaleDownCheck, "threshold", "consolidation");
DYNAPLAN_NAMES(UnreachableSla, "reference", "ignore");
DYNAPLAN_NAMES(Trigger, "tick", "event");
DYNAPLAN_NAMES(LoadStep, "one", "queue");
DYNAPLAN_NAMES(TrafficUnknown, "reference", "hold");
DYNAPLAN_NAMES(TrafficIdle, "reference", "carry_lengths");
DYNAPLAN_NAMES(ForecastBound, "none", "zero");
DYNAPLAN_NAMES(KalmanWarmup, "ignored", "last_value");
DYNAPLAN_NAMES(HitRate, "forecast", "last_value");
DYNAPLAN_NAMES(ArimaSearch, "upstream", "strict");
DYNAPLAN_NAMES(LastClamp, "reference", "always");
DYNAPLAN_NAMES(BudgetClamp, "reference", "shrink_only");
DYNAPLAN_NAMES(InfeasibleBudget, "zero", "refuse");
DYNAPLAN_NAMES(ScaleToZero, "never", "with_minimum_zero");
DYNAPLAN_NAMES(EqualDecision, "reference", "suppress");
DYNAPLAN_NAMES(EstimateFloor, "reference", "fit_range");
#undef DYNAPLAN_NAMES

namespace {

using P = Policy;
constexpr double hour_s = 3600.0;

template <auto field>
Field rule(std::string_view name, std::string_view help, Traits traits = {}) {
    return row<&PlannerConfig::policy, field>("policy", name, std::move(traits), help);
}

Traits seconds(double minimum, bool above, double maximum) {
    return {.unit = "s", .minimum = minimum, .above_minimum = above, .maximum = maximum};
}

std::vector<Field> model_rules() {
    return {
        rule<&P::fpm_sampling>(
            "fpm_sampling",
            "Which passes teach the model: the newest of each engine at a tick, or every one."),
        rule<&P::regression_scope>(
            "regression_scope", "One model for the fleet, or one per engine, so that a slow engine is seen."),
        rule<&P::averages>("averages",
                           "Averages over a count of passes, or over time, so that silence ages them."),
        rule<&P::averages_window>("averages_window_s", "Window of timed averages.",
                                  seconds(0, true, 24 * hour_s)),
        rule<&P::regression_fit>(
            "regression_fit",
            "Plain least squares that rejects a negative slope, or one that keeps slopes at or "
            "above 0."),
        rule<&P::retirement>("retirement",
                             "Which sample of a full bucket goes: the reference's order, or the oldest."),
        rule<&P::warmup_outlier>(
            "warmup_outlier",
            "A pass this many times longer than the trusted prediction, within an engine's first "
            "30 passes, is set aside and counted.",
            {.unit = "times", .minimum = 0, .maximum = 1e6, .zero_word = "off"}),
        rule<&P::axis_bounds>(
            "axis_bounds",
            "Bounds of the sample buckets: all samples, or without the outliers that would squeeze "
            "the rest into one bucket."),
    };
}

std::vector<Field> knowledge_rules() {
    return {
        rule<&P::reconcile>(
            "reconcile",
            "When fewer engines report than are ready: hold everything, or let the others grow while "
            "shrinking waits."),
        rule<&P::engine_silent>("engine_silent_s",
                                "A silent engine blocks shrinking until it is this old; then it is left out.",
                                seconds(0, true, 24 * hour_s)),
        rule<&P::engine_stuck>(
            "engine_stuck_s",
            "An engine with work queued and no pass for this long is left out and reported.",
            seconds(0, true, 24 * hour_s)),
        rule<&P::partial_knowledge>("partial_knowledge",
                                    "Whether one role's missing model silences the other, too."),
        rule<&P::scaling_guard>(
            "scaling_guard",
            "When a decision that is still being carried out holds the next one: in the modes of "
            "the reference, or always. Always also shrinks to what every forecast of ten minutes "
            "needed, with a tenth more, and waits after growth."),
        rule<&P::guard_deadline>(
            "guard_deadline_s",
            "How long the guard may hold. auto: three times the measured start-up, at least 600 "
            "s, and 1800 s while nothing has been measured.",
            {.unit = "s", .minimum = 0, .maximum = 24 * hour_s, .zero_word = "auto"}),
        rule<&P::scale_down_check>(
            "scale_down_check",
            "Shrink below a threshold, or only if the engines that stay can carry the load, and "
            "could at every load tick of ten minutes, or a quarter more for averages_window_s."),
        rule<&P::unreachable_sla>("unreachable_sla",
                                  "Whether a target that even an empty engine misses makes the fleet grow."),
        rule<&P::trigger>("trigger",
                          "Decide on the grid of ticks, or let a breach pull the next tick nearer."),
        rule<&P::reaction_min_interval>("reaction_min_interval_s",
                                        "Least time between two load ticks so pulled.",
                                        seconds(0, true, hour_s)),
        rule<&P::load_step>("load_step", "Grow by one replica, or by what the queue asks for."),
        rule<&P::decision_step_max>(
            "decision_step_max",
            "Most replicas that one decision may change per role; the minimum and the budget "
            "come first.",
            {.unit = "replicas", .minimum = 0, .maximum = 1e9, .zero_word = "none"}),
    };
}

std::vector<Field> traffic_rules() {
    return {
        rule<&P::traffic_unknown>(
            "traffic_unknown",
            "A failed traffic query: fed as the reference does, or nothing fed and nothing "
            "changed."),
        rule<&P::traffic_idle>(
            "traffic_idle",
            "A window without requests: as the reference does, or counted as 0 with the lengths "
            "of the last busy window."),
        rule<&P::idle_windows>("idle_windows", "Idle throughput windows until demand counts as 0.",
                               {.unit = "windows", .minimum = 1, .maximum = 1e6}),
        rule<&P::forecast_bound>("forecast_bound", "Lower bound of a forecast, and of the filter's state."),
        rule<&P::kalman_warmup>("kalman_warmup",
                                "Before kalman_min_points windows: the filter anyway, or the last value."),
        rule<&P::hit_rate>("hit_rate", "KV hit rate for the next window: forecast, or the last value."),
        rule<&P::arima_search>("arima_search",
                               "How the orders of an ARIMA forecast are searched. Not in Dynaplan yet: "
                               "accepted at its default only.",
                               {.missing = "the arima predictor does not exist yet"}),
    };
}

std::vector<Field> clamp_rules() {
    return {
        rule<&P::last_clamp>(
            "last_clamp",
            "Clamp where the reference does, or once after all proposals: step, guard, minimum, "
            "floor, budget."),
        rule<&P::budget_clamp>("budget_clamp",
                               "Whether one role may grow because the budget cuts the other."),
        rule<&P::infeasible_budget>(
            "infeasible_budget",
            "A budget below the minimum: go to zero as the reference does, or refuse to start."),
        rule<&P::scale_to_zero>("scale_to_zero", "Whether a minimum of 0 lets an idle fleet go to sleep."),
        rule<&P::equal_decision>("equal_decision", "A decision that changes nothing: emitted or left out."),
        rule<&P::estimate_floor>(
            "estimate_floor",
            "How far an estimate may leave what was seen: the reference lets it reach 0, "
            "fit_range does not."),
    };
}

}  // namespace

std::vector<Field> policy_rows() {
    std::vector<Field> all;
    for (const auto& part : {model_rules(), knowledge_rules(), traffic_rules(), clamp_rules()}) {
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

}  // namespace dynaplan::fields
