// The rows of Dynamo's own fields, as far as the core reads them, and of the capabilities. Defaults stand in
// the struct (core/config.hpp), sources: Dynamo's PlannerConfig of April and August 2026.
#include "core/config_field_row.hpp"

namespace dynaplan::fields {

template <>
struct Names<Preset> {
    static constexpr std::array<std::string_view, 2> list{"dynamo", "dynaplan"};
};
template <>
struct Names<Mode> {
    static constexpr std::array<std::string_view, 4> list{"disagg", "prefill", "decode", "agg"};
};
template <>
struct Names<OptimizationTarget> {
    static constexpr std::array<std::string_view, 4> list{"throughput", "latency", "load", "sla"};
};
template <>
struct Names<LoadPredictor> {
    static constexpr std::array<std::string_view, 2> list{"constant", "kalman"};
};

namespace {

using C = PlannerConfig;

// Upper bounds only keep arithmetic far from overflow and tables far from the machine's memory: a year, a
// billion replicas, a million samples per engine.
constexpr double year_s = 31'536'000.0;
constexpr double year_ms = year_s * 1000.0;
constexpr double count_max = 1e9;
constexpr double tokens_max = 1e12;
constexpr double noise_max = 1e12;

std::vector<Field> scaling_rows() {
    return {
        row<&C::preset>(
            "", "preset", {},
            "Where the policy and a few defaults come from: dynamo behaves as Dynamo's planner of "
            "April 2026, dynaplan corrects its known weaknesses."),
        row<&C::mode>("", "mode", {},
                      "Which engines the deployment has: separate prefill and decode (disagg), one of them "
                      "only, or engines that do both (agg)."),
        row<&C::optimization_target>(
            "", "optimization_target", {},
            "sla meets ttft and itl on the fewest GPUs. The others are easy targets that decide from queues "
            "and KV use alone; they switch load scaling on and throughput scaling off."),
        row<&C::enable_throughput_scaling>("", "enable_throughput_scaling", {},
                                           "Size the fleet for the forecast of the traffic. Under preset "
                                           "dynaplan the default is true when a "
                                           "traffic source is given, else false."),
        row<&C::enable_load_scaling>("", "enable_load_scaling", {},
                                     "React to what the engines report, between two forecasts."),
        row<&C::throughput_adjustment_interval>("", "throughput_adjustment_interval",
                                                {.aliases = {"throughput_adjustment_interval_seconds"},
                                                 .unit = "s",
                                                 .minimum = 1,
                                                 .maximum = year_s,
                                                 .whole = true},
                                                "Time between two forecasts, and the window of traffic that "
                                                "each looks at."),
        row<&C::load_adjustment_interval>(
            "", "load_adjustment_interval",
            {.aliases = {"load_adjustment_interval_seconds"},
             .unit = "s",
             .minimum = 1,
             .maximum = year_s,
             .whole = true},
            "Time between two looks at the engines; below the throughput interval when both are on."),
        row<&C::ttft>("", "ttft",
                      {.aliases = {"ttft_ms"},
                       .unit = "ms",
                       .minimum = 0,
                       .above_minimum = true,
                       .maximum = year_ms,
                       .while_running = true},
                      "Target for the time to the first token."),
        row<&C::itl>("", "itl",
                     {.aliases = {"itl_ms"},
                      .unit = "ms",
                      .minimum = 0,
                      .above_minimum = true,
                      .maximum = year_ms,
                      .while_running = true},
                     "Target for the time between two tokens."),
        row<&C::load_scaling_down_sensitivity>(
            "", "load_scaling_down_sensitivity",
            {.unit = "percent", .minimum = 0, .maximum = 100, .while_running = true},
            "Shrinking is considered when every estimate is below this share of its target."),
    };
}

std::vector<Field> limit_rows() {
    return {
        row<&C::max_gpu_budget>(
            "", "max_gpu_budget",
            {.unit = "GPUs", .minimum = -count_max, .maximum = count_max, .while_running = true},
            "Most GPUs that all replicas together may hold; negative means unlimited."),
        row<&C::min_endpoint>("", "min_endpoint",
                              {.unit = "replicas", .minimum = 0, .maximum = count_max, .while_running = true},
                              "Fewest replicas of each role; 0 allows a fleet to go to sleep."),
        row<&C::prefill_min_endpoint>(
            "", "prefill_min_endpoint",
            {.unit = "replicas", .minimum = 1, .maximum = count_max, .while_running = true},
            "Fewest prefill replicas, in place of min_endpoint; not in modes decode and agg."),
        row<&C::decode_min_endpoint>(
            "", "decode_min_endpoint",
            {.unit = "replicas", .minimum = 1, .maximum = count_max, .while_running = true},
            "Fewest decode replicas, in place of min_endpoint; not in modes prefill and agg."),
        row<&C::prefill_engine_num_gpu>(
            "", "prefill_engine_num_gpu",
            {.aliases = {"capabilities.prefill.num_gpu"}, .unit = "GPUs", .minimum = 1, .maximum = count_max},
            "GPUs of one prefill replica, where the deployment does not tell."),
        row<&C::decode_engine_num_gpu>(
            "", "decode_engine_num_gpu",
            {.aliases = {"capabilities.decode.num_gpu", "capabilities.agg.num_gpu"},
             .unit = "GPUs",
             .minimum = 1,
             .maximum = count_max},
            "GPUs of one decode (or agg) replica, where the deployment does not tell."),
    };
}

std::vector<Field> forecast_rows() {
    return {
        row<&C::load_predictor>("", "load_predictor", {.not_yet = {"arima", "prophet", "auto"}},
                                "How the traffic of the next window is forecast."),
        row<&C::load_predictor_log1p>("", "load_predictor_log1p", {},
                                      "Forecast the logarithm of 1 + value: for traffic that grows in "
                                      "proportion, and never below 0."),
        row<&C::kalman_q_level>("", "kalman_q_level", {.minimum = 0, .maximum = noise_max},
                                "Kalman: how much the level may wander from window to window (variance)."),
        row<&C::kalman_q_trend>("", "kalman_q_trend", {.minimum = 0, .maximum = noise_max},
                                "Kalman: how much the trend may wander (variance)."),
        row<&C::kalman_r>("", "kalman_r", {.minimum = 0, .above_minimum = true, .maximum = noise_max},
                          "Kalman: noise of one window's count (variance)."),
        row<&C::kalman_min_points>(
            "", "kalman_min_points", {.unit = "windows", .minimum = 1, .maximum = count_max},
            "Windows before the filter is trusted; until then policy.kalman_warmup says what is used."),
    };
}

std::vector<Field> model_rows() {
    return {
        row<&C::max_num_fpm_samples>("", "max_num_fpm_samples",
                                     {.unit = "samples", .minimum = 1, .maximum = 1e6},
                                     "Samples that a model keeps; also the window of counted averages."),
        row<&C::fpm_sample_bucket_size>(
            "", "fpm_sample_bucket_size", {.unit = "buckets", .minimum = 1, .maximum = 1e6},
            "Buckets that keep the samples spread over the load; a perfect square."),
        row<&C::load_min_observations>("", "load_min_observations",
                                       {.unit = "samples", .minimum = 1, .maximum = 1e6},
                                       "Samples before a model answers."),
        row<&C::prefill_scale_up_queue_tokens>(
            "", "prefill_scale_up_queue_tokens",
            {.unit = "tokens", .minimum = 0, .maximum = tokens_max, .while_running = true},
            "optimization_target load: queued prefill tokens per engine above which prefill grows."),
        row<&C::prefill_scale_down_queue_tokens>(
            "", "prefill_scale_down_queue_tokens",
            {.unit = "tokens", .minimum = 0, .maximum = tokens_max, .while_running = true},
            "optimization_target load: queued prefill tokens per engine below which prefill shrinks."),
        row<&C::decode_scale_up_kv_rate>(
            "", "decode_scale_up_kv_rate",
            {.unit = "percent", .minimum = 0, .maximum = 100, .while_running = true},
            "optimization_target load: KV use above which decode grows."),
        row<&C::decode_scale_down_kv_rate>(
            "", "decode_scale_down_kv_rate",
            {.unit = "percent", .minimum = 0, .maximum = 100, .while_running = true},
            "optimization_target load: KV use below which decode shrinks."),
        row<&C::traffic_wait>("", "traffic_wait_s",
                              {.unit = "s", .minimum = 0, .above_minimum = true, .maximum = year_s},
                              "How long a throughput tick waits for its traffic before it goes on without."),
        row<&C::advisory>("", "advisory", {.while_running = true},
                          "Observe, decide and report everything, but hand no decision out."),
    };
}

template <auto role>
void add_capabilities(std::vector<Field>& rows, std::string_view section, bool agg) {
    auto named = [agg](std::string_view as_agg) {
        return agg ? std::vector{as_agg} : std::vector<std::string_view>{};
    };
    rows.push_back(row<&C::capabilities, role, &Capabilities::max_num_batched_tokens>(
        section, "max_num_batched_tokens",
        {.aliases = named("capabilities.agg.max_num_batched_tokens"),
         .unit = "tokens",
         .minimum = 1,
         .maximum = tokens_max},
        "Tokens that one forward pass can take."));
    rows.push_back(row<&C::capabilities, role, &Capabilities::max_num_seqs>(
        section, "max_num_seqs",
        {.aliases = named("capabilities.agg.max_num_seqs"),
         .unit = "requests",
         .minimum = 1,
         .maximum = count_max},
        "Requests that one forward pass can take."));
    rows.push_back(row<&C::capabilities, role, &Capabilities::context_length>(
        section, "context_length",
        {.aliases = named("capabilities.agg.context_length"),
         .unit = "tokens",
         .minimum = 1,
         .maximum = tokens_max},
        "Longest request, input and output together."));
    rows.push_back(row<&C::capabilities, role, &Capabilities::max_kv_tokens>(
        section, "max_kv_tokens",
        {.aliases = named("capabilities.agg.max_kv_tokens"),
         .unit = "tokens",
         .minimum = 1,
         .maximum = tokens_max},
        "Tokens that fit into an engine's KV cache."));
}

}  // namespace

std::vector<Field> top_level_rows() {
    std::vector<Field> all;
    for (const auto& part : {scaling_rows(), limit_rows(), forecast_rows(), model_rows()}) {
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

std::vector<Field> capability_rows() {
    std::vector<Field> rows;
    add_capabilities<&PerRole<Capabilities>::prefill>(rows, "capabilities.prefill", false);
    add_capabilities<&PerRole<Capabilities>::decode>(rows, "capabilities.decode", true);
    return rows;
}

}  // namespace dynaplan::fields
