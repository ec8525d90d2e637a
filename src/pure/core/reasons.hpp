// Why a tick did, or did not, change something. The first group are Dynamo's names, the second ours
// (DESIGN 5.4).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace dynaplan {

enum class Reason : std::uint8_t {
    // Dynamo's, load and throughput
    disabled,
    no_fpm_data,
    scaling_in_progress,
    worker_count_mismatch,
    insufficient_data,
    no_change,
    scale_up,
    scale_down,
    scale_down_capped_by_throughput,
    scale_down_refused_consolidation,
    no_traffic_data,
    predict_failed,
    model_not_ready,
    partner_not_ready,
    set_lower_bound,
    scale,
    // ours
    traffic_unknown,
    decision_pending,
    minimum_applied,
    floor_applied,
    step_capped,
    budget_capped,
    sla_unreachable,
    engines_missing,
    scale_from_zero,
    standby,
    store_unavailable,
    paused,
    input_not_finite,
};
inline constexpr int reason_count = static_cast<int>(Reason::input_not_finite) + 1;

std::string_view to_string(Reason);
std::optional<Reason> reason_from(std::string_view);

}  // namespace dynaplan
