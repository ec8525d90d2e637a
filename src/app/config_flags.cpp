#include "app/config_flags.hpp"

#include <CLI/CLI.hpp>
#include <array>

namespace dynaplan::app {
namespace {

struct OlderFlag {
    const char* flag;
    const char* field;
};

// Dynamo's flags from October 2025 to the overview page of April 2026, with the field that each became.
constexpr std::array valued{
    OlderFlag{"--environment", "environment"},
    OlderFlag{"--namespace", "namespace"},
    OlderFlag{"--backend", "backend"},
    OlderFlag{"--mode", "mode"},
    OlderFlag{"--optimization-target", "optimization_target"},
    OlderFlag{"--log-dir", "log_dir"},
    OlderFlag{"--adjustment-interval", "throughput_adjustment_interval"},
    OlderFlag{"--max-gpu-budget", "max_gpu_budget"},
    OlderFlag{"--min-endpoint", "min_endpoint"},
    OlderFlag{"--decode-engine-num-gpu", "decode_engine_num_gpu"},
    OlderFlag{"--prefill-engine-num-gpu", "prefill_engine_num_gpu"},
    OlderFlag{"--profile-results-dir", "profile_results_dir"},
    OlderFlag{"--ttft", "ttft"},
    OlderFlag{"--itl", "itl"},
    OlderFlag{"--load-predictor", "load_predictor"},
    OlderFlag{"--load-prediction-window-size", "prophet_window_size"},
    OlderFlag{"--prophet-window-size", "prophet_window_size"},
    OlderFlag{"--load-predictor-warmup-trace", "load_predictor_warmup_trace"},
    OlderFlag{"--kalman-q-level", "kalman_q_level"},
    OlderFlag{"--kalman-q-trend", "kalman_q_trend"},
    OlderFlag{"--kalman-r", "kalman_r"},
    OlderFlag{"--kalman-min-points", "kalman_min_points"},
    OlderFlag{"--prometheus-port", "metric_reporting_prometheus_port"},
    OlderFlag{"--metric-pulling-prometheus-endpoint", "metric_pulling_prometheus_endpoint"},
    OlderFlag{"--metric-reporting-prometheus-port", "metric_reporting_prometheus_port"},
    OlderFlag{"--model-name", "model_name"},
    OlderFlag{"--loadbased-adjustment-interval", "load_adjustment_interval"},
    OlderFlag{"--loadbased-learning-window", "max_num_fpm_samples"},
    OlderFlag{"--loadbased-scaling-down-sensitivity", "load_scaling_down_sensitivity"},
    OlderFlag{"--loadbased-metric-samples", "load_metric_samples"},
    OlderFlag{"--loadbased-min-observations", "load_min_observations"},
    OlderFlag{"--max-num-fpm-samples", "max_num_fpm_samples"},
    OlderFlag{"--fpm-sample-bucket-size", "fpm_sample_bucket_size"},
};

struct OlderSwitch {
    const char* flag;
    const char* field;
    const char* value;
};
constexpr std::array switches{
    OlderSwitch{"--no-operation", "advisory", "true"},
    OlderSwitch{"--load-predictor-log1p", "load_predictor_log1p", "true"},
    OlderSwitch{"--enable-throughput-scaling", "enable_throughput_scaling", "true"},
    OlderSwitch{"--disable-throughput-scaling", "enable_throughput_scaling", "false"},
    OlderSwitch{"--enable-loadbased-scaling", "enable_load_scaling", "true"},
};

constexpr const char* group = "Flags of older Dynamo planners";

}  // namespace

void ConfigFlags::add_to(CLI::App& app, bool with_older_flags) {
    app.add_option("--config", config_, "Configuration: a YAML or JSON file, or inline JSON")
        ->type_name("FILE");
    app.add_option("--set", sets_, "Set one field: --set policy.trigger=tick; may be repeated")
        ->type_name("FIELD=VALUE")
        ->allow_extra_args(false);
    app.add_option("--preset", preset_, "dynaplan (the default) or dynamo")->type_name("PRESET");
    app.add_flag("--allow-unknown", allow_unknown_,
                 "Warn of unknown fields in the file instead of refusing it");
    if (with_older_flags) add_older_flags(app);
}

void ConfigFlags::add_older_flags(CLI::App& app) {
    for (const OlderFlag& f : valued) {
        app.add_option_function<std::string>(
               f.flag,
               [this, f](const std::string& v) {
                   older_.push_back({f.flag, f.field, v});
               },
               std::string{"Sets "} + f.field)
            ->group(group);
    }
    for (const OlderSwitch& s : switches) {
        app.add_flag_callback(
               s.flag,
               [this, s] {
                   older_.push_back({s.flag, s.field, s.value});
               },
               std::string{"Sets "} + s.field + " to " + s.value)
            ->group(group);
    }
    app.add_flag_callback(
           "--no-correction",
           [this] { ignored_.emplace_back("--no-correction: there are no correction factors"); },
           "Without effect: there are no correction factors")
        ->group(group);
    app.add_option_function<std::string>(
           "--loadbased-router-metrics-url",
           [this](const std::string&) {
               ignored_.emplace_back(
                   "--loadbased-router-metrics-url: the engines' own reports are used instead");
           },
           "Without effect: the engines' own reports are used instead")
        ->group(group);
}

ConfigRequest ConfigFlags::request(Environment environment, bool traffic_source) const {
    ConfigRequest request;
    request.config = config_;
    request.overrides = older_;
    if (preset_) request.overrides.push_back({"--preset", "preset", *preset_});
    for (const std::string& set : sets_) {
        const auto equals = set.find('=');
        const std::string field = set.substr(0, equals);
        // Without "=" the empty value is refused by the field's type, with this flag named.
        const std::string value = equals == std::string::npos ? std::string{} : set.substr(equals + 1);
        request.overrides.push_back({"--set", field, value});
    }
    request.environment = std::move(environment);
    request.traffic_source = traffic_source;
    request.allow_unknown = allow_unknown_;
    return request;
}

std::vector<std::string> ConfigFlags::warnings() const { return ignored_; }

}  // namespace dynaplan::app
