#include "core/reasons.hpp"

#include <array>

namespace dynaplan {

namespace {
constexpr std::array<std::string_view, reason_count> names{
    "disabled",
    "no_fpm_data",
    "scaling_in_progress",
    "worker_count_mismatch",
    "insufficient_data",
    "no_change",
    "scale_up",
    "scale_down",
    "scale_down_capped_by_throughput",
    "scale_down_refused_consolidation",
    "no_traffic_data",
    "predict_failed",
    "model_not_ready",
    "partner_not_ready",
    "set_lower_bound",
    "scale",
    "traffic_unknown",
    "decision_pending",
    "minimum_applied",
    "floor_applied",
    "step_capped",
    "budget_capped",
    "sla_unreachable",
    "engines_missing",
    "scale_from_zero",
    "standby",
    "store_unavailable",
    "paused",
    "input_not_finite",
};
}  // namespace

std::string_view to_string(Reason r) { return names[static_cast<std::size_t>(r)]; }

std::optional<Reason> reason_from(std::string_view name) {
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) return static_cast<Reason>(i);
    }
    return std::nullopt;
}

}  // namespace dynaplan
