// Dynamo's fields that Dynaplan knows and does not have yet. They are accepted as long as they ask for
// nothing; a configuration that asks for more than the planner does must not be taken in silence.
#include "app/config_table.hpp"

namespace dynaplan::app {
namespace {

LaterField later(std::string_view section, std::string_view name, FieldType type, FieldValue standard,
                 std::string_view missing) {
    LaterField f;
    f.info.section = section;
    f.info.name = name;
    f.info.type = type;
    f.info.nullable = std::holds_alternative<std::monostate>(standard);
    f.standard = std::move(standard);
    f.missing = missing;
    f.info.help = "Not in Dynaplan yet: accepted at its default only.";
    return f;
}

LaterField structure(std::string_view section, std::string_view name, std::string_view missing) {
    LaterField f = later(section, name, FieldType::text, FieldValue{}, missing);
    f.structured = true;
    return f;
}

constexpr std::string_view no_profile = "profiling data is not read yet";
constexpr std::string_view no_power = "power awareness does not exist yet";
constexpr std::string_view no_plugins = "plug-ins do not exist yet";

std::vector<LaterField> top_level() {
    using enum FieldType;
    std::vector<LaterField> rows;
    // The sweep runs before the deployment, outside the planner.
    LaterField sweeping =
        later("", "pre_deployment_sweeping_mode", enumeration, std::string{"rapid"}, no_profile);
    sweeping.info.values = {"none", "rapid", "thorough"};
    sweeping.info.nullable = true;
    sweeping.info.help = "How the deployment was profiled before it started; changes nothing in the planner.";
    sweeping.harmless = true;
    rows.push_back(sweeping);
    rows.push_back(later("", "profile_results_dir", text, std::string{"profiling_results"}, no_profile));
    rows.push_back(structure("", "aic_interpolation", no_profile));
    rows.push_back(structure("", "aic_perf_model", no_profile));
    rows.push_back(later("", "prophet_window_size", integer, std::int64_t{50},
                         "the prophet predictor does not exist yet"));
    rows.push_back(later("", "load_predictor_warmup_trace", text, {}, "warm-up traces are not read yet"));
    LaterField floor =
        later("", "min_gpu_budget", integer, std::int64_t{-1}, "a lower bound of GPUs does not exist yet");
    floor.info.unit = "GPUs";
    floor.info.help = "Fewest GPUs; any negative value means off. Not in Dynaplan yet.";
    rows.push_back(floor);
    rows.push_back(
        later("", "speculative_nextn", integer, std::int64_t{0}, "speculative decoding is not modelled yet"));
    rows.push_back(later("", "enable_power_awareness", boolean, false, no_power));
    rows.push_back(later("", "total_gpu_power_limit", integer, {}, no_power));
    return rows;
}

std::vector<LaterField> plugins() {
    using enum FieldType;
    constexpr std::string_view s = "scheduling";
    constexpr std::string_view g = "scheduling.gateway";
    constexpr std::string_view r = "plugin_registration";
    constexpr std::string_view t = "plugin_registration.transport";
    return {
        later(s, "tick_max_duration_seconds", number, 30.0, no_plugins),
        later(s, "scale_interval_seconds", number, {}, "a separate scale interval does not exist yet"),
        structure(s, "external_plugins", no_plugins),
        later(g, "enabled", boolean, false, no_plugins),
        later(g, "listen", text, std::string{"unix:///var/run/dynamo/planner/registry.sock"}, no_plugins),
        later(g, "allow_insecure", boolean, false, no_plugins),
        structure("plugin_registration.auth", "trusted_sources", no_plugins),
        structure("plugin_registration.auth", "static_secrets", no_plugins),
        later(t, "allow_insecure_grpc", boolean, false, no_plugins),
        later(t, "request_timeout_seconds", number, 5.0, no_plugins),
        later(t, "keepalive_time_ms", integer, std::int64_t{30000}, no_plugins),
        later(t, "max_message_size_bytes", integer, std::int64_t{10485760}, no_plugins),
        later(r, "protocol_version_min", text, std::string{"1.0"}, no_plugins),
        later(r, "protocol_version_max", text, std::string{"1.0"}, no_plugins),
        later(r, "heartbeat_timeout_seconds", number, 15.0, no_plugins),
        later(r, "heartbeat_missed_threshold", integer, std::int64_t{2}, no_plugins),
        structure(r, "in_process_plugins", no_plugins),
        later("plugin_registration.admin", "mode", text, std::string{"allow_all"}, no_plugins),
    };
}

}  // namespace

std::span<const LaterField> later_fields() {
    static const auto rows = [] {
        std::vector<LaterField> all = top_level();
        const auto more = plugins();
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }();
    return rows;
}

}  // namespace dynaplan::app
