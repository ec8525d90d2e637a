// What must hold between fields. Sources: the checks of Dynamo's PlannerConfig (April and August 2026), and
// the design: a minimum that cannot fit the budget is refused with the arithmetic.
#include <cmath>
#include <string>

#include "core/config_field.hpp"

namespace dynaplan {
namespace {

using Problems = std::vector<Problem>;

std::string count_of(std::int64_t n, std::string_view one) {
    return std::to_string(n) + " " + std::string{one} + (n == 1 ? "" : "s");
}

void check_bounds(const PlannerConfig& c, Problems& out) {
    for (const Field& f : planner_fields()) {
        if (const auto v = coerce(f, f.get(c)); !v) out.push_back({f.path(), v.error().message});
    }
}

// A configuration that asks for more than the planner does must not be taken in silence.
void check_missing(const PlannerConfig& c, Problems& out) {
    const PlannerConfig standard = config_of(c.preset);
    for (const Field& f : planner_fields()) {
        if (f.missing.empty() || f.get(c) == f.get(standard)) continue;
        out.push_back({f.path(), std::string{f.missing} + "; leave it at " + text_of(f.get(standard))});
    }
}

void check_model(const PlannerConfig& c, Problems& out) {
    const auto n = c.fpm_sample_bucket_size;
    const auto root = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(n))));
    if (n >= 1 && root * root != n) {
        out.push_back({"fpm_sample_bucket_size",
                       "must be a perfect square (1, 4, 9, 16, ...), not " + std::to_string(n)});
    }
    if (c.preset == Preset::dynaplan && c.load_min_observations > c.max_num_fpm_samples) {
        out.push_back({"load_min_observations",
                       "must be at most max_num_fpm_samples (" + std::to_string(c.max_num_fpm_samples) +
                           "), or no model ever answers; not " + std::to_string(c.load_min_observations)});
    }
}

void check_schedule(const PlannerConfig& c, Problems& out) {
    if (!c.enable_load_scaling && !c.enable_throughput_scaling) {
        out.push_back(
            {"enable_load_scaling", "one of enable_load_scaling and enable_throughput_scaling must be true"});
    }
    if (c.enable_load_scaling && c.enable_throughput_scaling &&
        c.load_adjustment_interval >= c.throughput_adjustment_interval) {
        out.push_back({"load_adjustment_interval", "must be below throughput_adjustment_interval (" +
                                                       text_of(c.throughput_adjustment_interval.count()) +
                                                       " s) when both scalings are on, not " +
                                                       text_of(c.load_adjustment_interval.count()) + " s"});
    }
    if (c.preset == Preset::dynaplan && c.enable_throughput_scaling &&
        c.traffic_wait >= c.throughput_adjustment_interval) {
        out.push_back({"traffic_wait_s", "must be below throughput_adjustment_interval (" +
                                             text_of(c.throughput_adjustment_interval.count()) + " s), not " +
                                             text_of(c.traffic_wait.count()) + " s"});
    }
}

template <class T>
void check_threshold_pair(const std::optional<T>& up, const std::optional<T>& down,
                          const std::string& up_name, const std::string& down_name, Problems& out) {
    const std::string need = "is needed by optimization_target load in this mode";
    if (!up) out.push_back({up_name, need});
    if (!down) out.push_back({down_name, need});
    if (up && down && *up <= *down) {
        out.push_back({up_name, "must be above " + down_name + " (" + text_of(FieldValue{*down}) + "), not " +
                                    text_of(FieldValue{*up})});
    }
}

void check_thresholds(const PlannerConfig& c, Problems& out) {
    if (c.optimization_target != OptimizationTarget::load) return;
    if (has_prefill(c.mode)) {
        check_threshold_pair(c.prefill_scale_up_queue_tokens, c.prefill_scale_down_queue_tokens,
                             "prefill_scale_up_queue_tokens", "prefill_scale_down_queue_tokens", out);
    }
    if (has_decode(c.mode)) {
        check_threshold_pair(c.decode_scale_up_kv_rate, c.decode_scale_down_kv_rate,
                             "decode_scale_up_kv_rate", "decode_scale_down_kv_rate", out);
    }
}

void check_minimum(const PlannerConfig& c, Problems& out) {
    const std::string mode{to_string(c.mode)};
    if (c.prefill_min_endpoint && (!has_prefill(c.mode))) {
        out.push_back({"prefill_min_endpoint", "is not allowed in mode " + mode});
    }
    if (c.decode_min_endpoint && (c.mode == Mode::prefill || c.mode == Mode::agg)) {
        out.push_back({"decode_min_endpoint",
                       "is not allowed in mode " + mode + (c.mode == Mode::agg ? ": use min_endpoint" : "")});
    }
}

// An unknown GPU count is at least 1: what does not fit even so is refused here, the rest when the count is
// known.
void check_budget(const PlannerConfig& c, Problems& out) {
    if (c.policy.infeasible_budget != InfeasibleBudget::refuse || c.max_gpu_budget < 0) return;
    std::string arithmetic;
    double total = 0.0;
    for (const Role role : all_roles) {
        if (!has_role(c.mode, role)) continue;
        const auto n = c.minimum(role).count();
        const auto gpus = c.gpus(role);
        const auto each = gpus ? gpus->count() : 1;
        total += static_cast<double>(n) * static_cast<double>(each);
        if (!arithmetic.empty()) arithmetic += " + ";
        arithmetic +=
            count_of(n, c.mode == Mode::agg ? "replica" : std::string{to_string(role)} + " replica") + " x " +
            (gpus ? "" : "at least ") + count_of(each, "GPU");
    }
    if (total <= static_cast<double>(c.max_gpu_budget)) return;
    out.push_back({"max_gpu_budget", "the minimum does not fit: " + arithmetic + " = " + text_of(total) +
                                         " GPUs, budget " + std::to_string(c.max_gpu_budget)});
}

}  // namespace

std::vector<Problem> find_problems(const PlannerConfig& c) {
    Problems problems;
    check_bounds(c, problems);
    check_missing(c, problems);
    check_model(c, problems);
    check_schedule(c, problems);
    check_thresholds(c, problems);
    check_minimum(c, problems);
    check_budget(c, problems);
    return problems;
}

}  // namespace dynaplan
