// The configuration that the core reads. Names are Dynamo's PlannerConfig fields (April), with our sections
// beside them. app/config fills it from file, flags and environment; the core never looks anywhere else.
#pragma once

#include <cstdint>
#include <optional>

#include "core/capabilities.hpp"
#include "core/policy.hpp"
#include "core/role.hpp"
#include "core/units.hpp"

namespace dynaplan {

// "auto", "arima" and "prophet" are refused by the configuration until they exist.
enum class LoadPredictor : std::uint8_t { constant, kalman };

struct PlannerConfig {
    Preset preset = Preset::dynaplan;
    Mode mode = Mode::disagg;
    OptimizationTarget optimization_target = OptimizationTarget::sla;
    bool enable_throughput_scaling = true;
    bool enable_load_scaling = true;
    Seconds throughput_adjustment_interval{180.0};
    Seconds load_adjustment_interval{5.0};
    Millis ttft{500.0};
    Millis itl{50.0};
    std::int64_t load_scaling_down_sensitivity = 80;  // percent of the target

    std::int64_t max_gpu_budget = 8;                   // GPUs; negative = unlimited
    std::int64_t min_endpoint = 1;                     // replicas
    std::optional<std::int64_t> prefill_min_endpoint;  // overrides min_endpoint for the role
    std::optional<std::int64_t> decode_min_endpoint;
    std::optional<std::int64_t> prefill_engine_num_gpu;  // GPUs per replica
    std::optional<std::int64_t> decode_engine_num_gpu;

    LoadPredictor load_predictor = LoadPredictor::kalman;
    bool load_predictor_log1p = false;
    double kalman_q_level = 1.0;
    double kalman_q_trend = 0.1;
    double kalman_r = 10.0;
    std::int64_t kalman_min_points = 5;

    std::int64_t max_num_fpm_samples = 64;     // also the window of the counted averages
    std::int64_t fpm_sample_bucket_size = 16;  // buckets; a perfect square
    std::int64_t load_min_observations = 5;

    // optimization_target: load
    std::optional<std::int64_t> prefill_scale_up_queue_tokens;
    std::optional<std::int64_t> prefill_scale_down_queue_tokens;
    std::optional<double> decode_scale_up_kv_rate;    // percent
    std::optional<double> decode_scale_down_kv_rate;  // percent

    Seconds traffic_wait{2.0};  // how long an open throughput tick waits for its traffic
    bool advisory = false;

    // Where no model card tells. num_gpu comes from *_engine_num_gpu.
    PerRole<Capabilities> capabilities;

    Policy policy;

    [[nodiscard]] bool easy() const { return optimization_target != OptimizationTarget::sla; }
    [[nodiscard]] Replicas minimum(Role role) const {
        const auto& own = role == Role::prefill ? prefill_min_endpoint : decode_min_endpoint;
        return Replicas{own.value_or(min_endpoint)};
    }
    [[nodiscard]] std::optional<Gpus> gpus(Role role) const {
        const auto& n = role == Role::prefill ? prefill_engine_num_gpu : decode_engine_num_gpu;
        return n ? std::optional{Gpus{*n}} : std::nullopt;
    }
};

// A default configuration of the preset: policy, optimization target, scaling switches and predictor
// (DESIGN 5.2).
PlannerConfig config_of(Preset);

}  // namespace dynaplan
