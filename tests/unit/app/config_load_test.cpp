#include "app/config_load.hpp"

#include <doctest/doctest.h>

#include "app/config_table.hpp"
#include "config_test_files.hpp"

using namespace dynaplan;
using namespace dynaplan::app;
using Lines = std::vector<std::string>;

// The file of the design, word for word.
constexpr std::string_view whole_file = R"(mode: disagg
ttft: 500                         # ms
itl: 50                           # ms
prefill_engine_num_gpu: 1
decode_engine_num_gpu: 1
max_gpu_budget: 16
preset: dynaplan                  # or dynamo
policy: {trigger: event}          # any field of 5.2 on its own
bus: {transport: zmq, plane: engine, endpoints: [{url: "tcp://127.0.0.1:20380", role: decode}]}
#    plane: engine = the raw 3-frame hop; event = Dynamo's event plane: endpoints found by discovery, or listed
#    {transport: nats, server: "nats://127.0.0.1:4222"}
discovery: {backend: engines}     # engines (those that report) | static | file | etcd
capabilities:                     # where no model card tells
  prefill: {max_num_batched_tokens: 8192, max_num_seqs: 256, context_length: 32768, max_kv_tokens: 400000}
  decode:  {max_num_batched_tokens: 8192, max_num_seqs: 256, context_length: 32768, max_kv_tokens: 400000}
decisions: {store: file, path: decisions}        # file | memory | etcd
etcd: {endpoints: ["http://127.0.0.1:2379"]}
http: {listen: "127.0.0.1:9086"}                 # port 0 = any free one, printed and shown at /v1/state; token_file
journal: {dir: journal}
)";

TEST_CASE("configuration: the whole file of the design loads without a word") {
    const TestFolder folder;
    const LoadedConfig loaded = load(folder.write("planner.yaml", whole_file));
    CHECK(loaded.problems == Lines{});
    CHECK(loaded.warnings == Lines{});
    const AppConfig& c = loaded.config;
    CHECK(c.planner.preset == Preset::dynaplan);
    CHECK(c.planner.max_gpu_budget == 16);
    CHECK(c.planner.optimization_target == OptimizationTarget::sla);
    CHECK(c.planner.enable_load_scaling);
    CHECK_FALSE(c.planner.enable_throughput_scaling);
    CHECK(c.planner.capabilities.prefill.max_kv_tokens == 400'000);
    CHECK(c.planner.capabilities.decode.max_num_batched_tokens == 8192);
    CHECK(c.bus.endpoints == std::vector<BusEndpoint>{{"tcp://127.0.0.1:20380", Role::decode}});
    CHECK(c.etcd.endpoints == Lines{"http://127.0.0.1:2379"});
    CHECK(c.deployment.environment == DeployedBy::virtual_connector);
    CHECK(c.http.listen == "127.0.0.1:9086");
    CHECK(c.journal.dir == "journal");
}

TEST_CASE("configuration: eight mistakes give eight lines, each at its place") {
    const TestFolder folder;
    const LoadedConfig loaded = load(folder.write("planner.yaml", R"(mode: disag
ttft: -1
itll: 50
min_endpoint: 1.5
policy:
  triger: event
  warmup_outlier: of
fpm_sample_bucket_size: 15
aic_interpolation: {hf_id: x}
)"));
    CHECK(bare(loaded.problems, folder) ==
          Lines{
              "planner.yaml:1: mode: must be disagg, prefill, decode or agg, not \"disag\"; did you mean "
              "disagg?",
              "planner.yaml:2: ttft: must be above 0, not -1",
              "planner.yaml:3: itll: no such field; did you mean itl?",
              "planner.yaml:4: min_endpoint: must be a whole number, not 1.5",
              "planner.yaml:6: policy.triger: no such field; did you mean policy.trigger?",
              "planner.yaml:7: policy.warmup_outlier: must be a number or off, not \"of\"",
              "planner.yaml:8: fpm_sample_bucket_size: must be a perfect square (1, 4, 9, 16, ...), not 15",
              "planner.yaml:9: aic_interpolation: profiling data is not read yet; leave it out",
          });
}

TEST_CASE("configuration: JSON tells the same places") {
    const TestFolder folder;
    const LoadedConfig loaded = load(folder.write("planner.json", R"({
  "ttft": 0,
  "policy": {
    "trigger": "tock",
    "idle_windows": 1
  },
  "max_gpu_budget": 1180591620717411303424,
  "ttft": 5,
  "bus": {"endpoints": [{"url": "tcp://h:1"},
    {"url": "tcp://h:x", "rol": "decode"}]}
})"));
    CHECK(
        bare(loaded.problems, folder) ==
        Lines{
            "planner.json:2: ttft: must be above 0, not 0",
            "planner.json:4: policy.trigger: must be tick or event, not \"tock\"; did you mean tick?",
            "planner.json:7: max_gpu_budget: must be at most 1000000000, not 1180591620717411303424",
            "planner.json:8: ttft: is given twice",
            "planner.json:10: bus.endpoints[1].rol: no such field; did you mean role?",
            "planner.json:10: bus.endpoints[1]: url must be tcp://host:port or ipc://path, not \"tcp://h:x\"",
        });
}

TEST_CASE("configuration: values of either notation mean the same") {
    const TestFolder folder;
    const auto yaml = load(folder.write("a.yaml",
                                        "{ttft: '400', advisory: yes, max_gpu_budget: 16.0, "
                                        "policy: {warmup_outlier: off}, report_interval_hours: ~}"));
    const auto json = load(R"({"ttft": 400, "advisory": true, "max_gpu_budget": "16",
                               "policy": {"warmup_outlier": false}, "report_interval_hours": null})");
    CHECK(yaml.problems == Lines{});
    CHECK(json.problems == Lines{});
    CHECK(values_of(yaml.config.planner) == values_of(json.config.planner));
    CHECK(yaml.config.planner.policy.warmup_outlier == 0.0);
    CHECK_FALSE(yaml.config.report.interval_hours.has_value());
}

TEST_CASE("configuration: the names of April and August are taken, August wins within a file") {
    const auto loaded = load(R"({"ttft_ms": 300, "ttft": 400, "load_adjustment_interval_seconds": 7,
                                 "throughput_adjustment_interval": 90})");
    CHECK(loaded.problems == Lines{});
    CHECK(loaded.config.planner.ttft == Millis{300.0});
    CHECK(loaded.config.planner.load_adjustment_interval == Seconds{7.0});
    CHECK(loaded.config.planner.throughput_adjustment_interval == Seconds{90.0});
    CHECK(loaded.origins.at("ttft").name == "ttft_ms");
}

TEST_CASE("configuration: flag over file over environment over preset") {
    const TestFolder folder;
    ConfigRequest request;
    request.environment = variables({{"DYN_NAMESPACE", "from-env"}, {"PLANNER_PROMETHEUS_PORT", "9001"}});
    CHECK(load_config(request).config.deployment.dynamo_namespace == "from-env");
    request.config = folder.write("p.yaml", "namespace: from-file\nttft: 400\nttft_ms: 350\n");
    LoadedConfig loaded = load_config(request);
    CHECK(loaded.config.deployment.dynamo_namespace == "from-file");
    CHECK(loaded.config.metrics.reporting_port == 9001);
    request.overrides = {{"--namespace", "namespace", "from-flag"}, {"--set", "ttft", "300"}};
    loaded = load_config(request);
    CHECK(loaded.problems == Lines{});
    CHECK(loaded.config.deployment.dynamo_namespace == "from-flag");
    CHECK(loaded.config.planner.ttft ==
          Millis{300.0});  // the April name as a flag beats August's in the file
    CHECK(loaded.origins.at("namespace").kind == Origin::Kind::flag);
    CHECK(loaded.origins.at("metric_reporting_prometheus_port").kind == Origin::Kind::environment);
}

TEST_CASE("configuration: a wrong value is told even where another source overrules it") {
    const TestFolder folder;
    const auto loaded = load(folder.write("p.yaml", "ttft: soon\n"), {{"--ttft", "ttft", "300"}});
    CHECK(bare(loaded.problems, folder) == Lines{"p.yaml:1: ttft: must be a number, not \"soon\""});
}

TEST_CASE("configuration: problems of flags and variables name them") {
    ConfigRequest request;
    request.environment = variables({{"PLANNER_PROMETHEUS_PORT", "http"}, {"PROMETHEUS_ENDPOINT", ""}});
    request.overrides = {
        {"--ttft", "ttft", "-5"}, {"--set", "polcy.trigger", "tick"}, {"--set", "policy", "x"}};
    const auto loaded = load_config(request);
    CHECK(
        loaded.problems ==
        Lines{
            "PLANNER_PROMETHEUS_PORT: metric_reporting_prometheus_port: must be a whole number, not \"http\"",
            "--ttft: ttft: must be above 0, not -5",
            "--set: polcy.trigger: no such field; did you mean policy.trigger?",
            "--set: policy: is a section: name one of its fields"});
    CHECK_FALSE(loaded.config.planner.enable_throughput_scaling);  // an empty variable is no traffic source
}

TEST_CASE("configuration: variables that Dynamo reads leniently") {
    ConfigRequest request;
    request.environment = variables({{"PROMETHEUS_SSL_VERIFY", "TRUE"},
                                     {"ETCD_LEASE_TTL", "junk"},
                                     {"ETCD_ENDPOINTS", "http://a:1,http://b:2"},
                                     {"PROMETHEUS_EXTRA_QUERY_PARAMS", "tenant=a&x=1"},
                                     {"SCALING_MAX_WAIT_TIME", "900"}});
    LoadedConfig loaded = load_config(request);
    CHECK(loaded.problems == Lines{});
    CHECK(loaded.config.metrics.pulling_ssl_verify);
    CHECK(loaded.config.etcd.lease_ttl == Seconds{10.0});
    CHECK(loaded.config.etcd.endpoints == Lines{"http://a:1", "http://b:2"});
    CHECK(loaded.config.metrics.pulling_query_params ==
          std::map<std::string, std::string>{{"tenant", "a"}, {"x", "1"}});
    CHECK(loaded.config.decisions.timeout == Seconds{900.0});
    request.environment = variables({{"PROMETHEUS_SSL_VERIFY", "please"}});
    CHECK_FALSE(load_config(request).config.metrics.pulling_ssl_verify);
}

TEST_CASE("configuration: the default preset turns throughput scaling on with a traffic source") {
    ConfigRequest request;
    CHECK_FALSE(load_config(request).config.planner.enable_throughput_scaling);
    request.traffic_source = true;
    CHECK(load_config(request).config.planner.enable_throughput_scaling);
    request.traffic_source = false;
    request.config = R"({"metric_pulling_prometheus_endpoint": "http://p:9090"})";
    CHECK(load_config(request).config.planner.enable_throughput_scaling);
    request.config =
        R"({"metric_pulling_prometheus_endpoint": "http://p:9090", "enable_throughput_scaling": false})";
    CHECK_FALSE(load_config(request).config.planner.enable_throughput_scaling);
    request.config = R"({"enable_throughput_scaling": true})";
    CHECK(load_config(request).config.planner.enable_throughput_scaling);
}

TEST_CASE("configuration: the environment is kubernetes inside a graph deployment") {
    ConfigRequest request;
    CHECK(load_config(request).config.deployment.environment == DeployedBy::virtual_connector);
    request.environment = variables({{"DYN_PARENT_DGD_K8S_NAME", "graph"}});
    CHECK(load_config(request).config.deployment.environment == DeployedBy::kubernetes);
    CHECK(load_config(request).config.deployment.graph_name == "graph");
    request.config = R"({"environment": "virtual"})";
    CHECK(load_config(request).config.deployment.environment == DeployedBy::virtual_connector);
    request.config = R"({"environment": "global-planner"})";
    CHECK(load_config(request).problems ==
          Lines{"--config: global_planner_namespace: is needed by environment global-planner"});
}

TEST_CASE("configuration: Dynamo's default predictor is refused only where it would be used") {
    CHECK(load(R"({"preset": "dynamo"})").problems == Lines{});  // an easy target makes no forecast
    CHECK(load(R"({"preset": "dynamo", "load_predictor": "arima"})").problems == Lines{});
    CHECK(load(R"({"preset": "dynamo", "optimization_target": "sla"})").problems ==
          Lines{"--config: load_predictor: arima, the default of preset dynamo, does not exist in Dynaplan "
                "yet: use "
                "constant or kalman"});
    CHECK(load(R"({"preset": "dynamo", "optimization_target": "sla", "load_predictor": "constant"})")
              .problems == Lines{});
    CHECK(load(R"({"preset": "dynamo", "optimization_target": "sla", "enable_load_scaling": true,
                   "enable_throughput_scaling": false})")
              .problems == Lines{});
    CHECK(load(R"({"load_predictor": "arima"})").problems ==
          Lines{"--config:1: load_predictor: arima does not exist in Dynaplan yet: use constant or kalman"});
    CHECK(
        load(R"({"preset": "dynamo", "load_predictor": "prophet"})").problems ==
        Lines{"--config:1: load_predictor: prophet does not exist in Dynaplan yet: use constant or kalman"});
}

TEST_CASE("configuration: preset dynamo has the reference's defaults") {
    const auto loaded = load(R"({"preset": "dynamo"})");
    const PlannerConfig& p = loaded.config.planner;
    CHECK(p.policy == dynamo_policy());
    CHECK(p.optimization_target == OptimizationTarget::throughput);
    CHECK(p.enable_load_scaling);  // forced by the easy target
    CHECK_FALSE(p.enable_throughput_scaling);
    CHECK(loaded.config.deployment.environment == DeployedBy::kubernetes);
}

TEST_CASE("configuration: fields of Dynamo that are not there yet are accepted at their default only") {
    CHECK(
        load(
            R"({"aic_interpolation": null, "profile_results_dir": "profiling_results", "prophet_window_size": 50,
                   "min_gpu_budget": -7, "speculative_nextn": 0, "enable_power_awareness": false,
                   "total_gpu_power_limit": null, "load_predictor_warmup_trace": null,
                   "pre_deployment_sweeping_mode": "none", "report_write_gzip_log": true,
                   "scheduling": {"external_plugins": [], "tick_max_duration_seconds": 30, "gateway": {"enabled": false}},
                   "plugin_registration": {"auth": {"static_secrets": {}}, "admin": {"mode": "allow_all"}}})")
            .problems == Lines{});
    const auto loaded = load(R"({"aic_perf_model": {"hf_id": "x"}, "profile_results_dir": "/data",
        "prophet_window_size": 60, "min_gpu_budget": 4, "speculative_nextn": 2, "enable_power_awareness": true,
        "total_gpu_power_limit": 7000, "load_predictor_warmup_trace": "t.jsonl",
        "scheduling": {"external_plugins": [{"plugin_id": "a"}], "scale_interval_seconds": 5},
        "pre_deployment_sweeping_mode": "quick"})");
    CHECK(loaded.problems.size() == 11);
    CHECK(
        any_has(loaded.problems, "min_gpu_budget: a lower bound of GPUs does not exist yet; leave it at -1"));
    CHECK(any_has(loaded.problems, "scheduling.external_plugins: plug-ins do not exist yet; leave it out"));
    CHECK(any_has(loaded.problems, "pre_deployment_sweeping_mode: must be none, rapid or thorough"));
    CHECK(any_has(load(R"({"scheduling": {"tick_max": 3}})").problems, "scheduling.tick_max: no such field"));
}

namespace {

// A value that asks for something, as JSON.
std::string off_default(const LaterField& f) {
    if (f.structured) return "[1]";
    switch (f.info.type) {
        case FieldType::boolean: return f.standard == FieldValue{true} ? "false" : "true";
        case FieldType::integer: {
            const auto* standard = std::get_if<std::int64_t>(&f.standard);
            return std::to_string(standard == nullptr ? 7 : *standard + 7);
        }
        case FieldType::number: return "7.5";
        default: return R"("another")";
    }
}

}  // namespace

TEST_CASE("configuration: every field that is known and not there yet says so when it is asked for") {
    const auto told = [](const std::string& name, const std::string& value) {
        return load("{\"" + name + "\": " + value + "}").problems;
    };
    std::size_t refused = 0;
    for (const LaterField& f : later_fields()) {
        CAPTURE(f.path());
        const std::string standard = text_of(f.standard);
        const bool bare = f.info.type != FieldType::text && f.info.type != FieldType::enumeration;
        const bool null = std::holds_alternative<std::monostate>(f.standard);
        CHECK(told(f.path(), bare || null ? standard : '"' + standard + '"') == Lines{});
        if (f.harmless) continue;
        CHECK(told(f.path(), off_default(f)) ==
              Lines{"--config:1: " + f.path() + ": " + std::string{f.missing} +
                    (f.structured ? "; leave it out" : "; leave it at " + standard)});
        ++refused;
    }
    CHECK(refused + 1 == later_fields().size());  // how the deployment was swept changes nothing
    CHECK(told("policy.arima_search", "\"strict\"") == Lines{});
    CHECK(
        told("policy.arima_search", "\"upstream\"") ==
        Lines{"--config:1: policy.arima_search: the arima predictor does not exist yet; leave it at strict"});
    CHECK(
        load(R"({"preset": "dynamo", "policy": {"arima_search": "strict"}})").problems ==
        Lines{
            "--config:1: policy.arima_search: the arima predictor does not exist yet; leave it at upstream"});
    std::vector<std::string> values;
    for (const Field& f : planner_fields()) {
        for (const std::string_view value : f.not_yet) {
            values.push_back(f.path() + '=' + std::string{value});
            CHECK(any_has(told(f.path(), '"' + std::string{value} + '"'),
                          f.path() + ": " + std::string{value} + " does not exist in Dynaplan yet: use "));
        }
    }
    CHECK(values == Lines{"load_predictor=arima", "load_predictor=prophet", "load_predictor=auto"});
}

TEST_CASE("configuration: one HTTP server, with Dynamo's name for its port") {
    CHECK(load(R"({"control_api_port": 9999})").config.http.listen == "127.0.0.1:9999");
    CHECK(load(R"({"control_api_port": 0})").config.http.listen == "off");
    CHECK(load(R"({"control_api_port": 9999, "http": {"listen": "127.0.0.1:9999"}})").problems == Lines{});
    CHECK(load(R"({"control_api_port": 9998, "http": {"listen": "127.0.0.1:9999"}})").problems ==
          Lines{"--config:1: control_api_port: says another port than http.listen (127.0.0.1:9999): give one "
                "of them"});
    CHECK(load(R"({"http": {"listen": "0.0.0.0:9086"}})").problems ==
          Lines{"--config:1: http.listen: is open beyond this machine: that needs http.token_file"});
    CHECK(load(R"({"http": {"listen": "0.0.0.0:9086", "token_file": "token"}})").problems == Lines{});
    CHECK(load(R"({"http": {"listen": "[::1]:0"}})").problems == Lines{});
    for (const char* wrong : {"9086", "host:", ":9086", "h:70000", "h:-1", "h:1x", ""}) {
        CAPTURE(wrong);
        CHECK(any_has(load(std::string{R"({"http": {"listen": ")"} + wrong + "\"}}").problems,
                      "must be host:port"));
    }
}

TEST_CASE("configuration: what a part needs is asked for") {
    const auto loaded = load(R"({"discovery": {"backend": "static"}, "decisions": {"store": "etcd"},
                                 "etcd": {"endpoints": []}, "journal": {"segment_mb": 100, "kept_mb": 50},
                                 "metric_pulling_prometheus_ca_bundle": "/no/such/file"})");
    CHECK(any_has(loaded.problems, "bus.endpoints: is needed by discovery.backend static"));
    CHECK(any_has(loaded.problems, "etcd.endpoints: must name at least one member"));
    CHECK(any_has(loaded.problems, "journal.kept_mb: must be at least journal.segment_mb (100), not 50"));
    CHECK(any_has(loaded.problems, "metric_pulling_prometheus_ca_bundle: no such file: /no/such/file"));
    CHECK(loaded.problems.size() == 4);
}

TEST_CASE("configuration: values in the wrong shape") {
    const auto loaded = load(R"({"ttft": [1], "itl": {"a": 1}, "policy": 3, "bus": {"endpoints": "x"},
        "metric_pulling_prometheus_extra_query_params": [1], "capabilities": {"prefill": []}})");
    CHECK(loaded.problems ==
          Lines{"--config:1: ttft: must be a single value, not a list",
                "--config:1: itl: must be a single value, not a map",
                "--config:1: policy: is a section: its fields go below it",
                "--config:1: bus.endpoints: must be a list",
                "--config:2: capabilities.prefill: is a section: its fields go below it",
                "--config:2: metric_pulling_prometheus_extra_query_params: must be a map of texts"});
}

TEST_CASE("configuration: unknown fields may be let through with a warning") {
    ConfigRequest request;
    request.config = R"({"ttft": 400, "fancy_new_field": {"a": [1, 2]}})";
    CHECK(load_config(request).problems == Lines{"--config:1: fancy_new_field: no such field"});
    request.allow_unknown = true;
    const auto loaded = load_config(request);
    CHECK(loaded.problems == Lines{});
    CHECK(any_has(loaded.warnings, "fancy_new_field: no such field"));
    CHECK(loaded.config.planner.ttft == Millis{400.0});
}

TEST_CASE("configuration: warnings for seconds, for what has no effect, and for an unknown GPU count") {
    const auto loaded =
        load(R"({"ttft": 0.5, "itl": 0.05, "log_dir": "/tmp", "optimization_target": "latency",
                                 "enable_throughput_scaling": true})");
    CHECK(loaded.problems == Lines{});
    CHECK(any_has(loaded.warnings, "ttft: milliseconds are meant here; this looks like seconds"));
    CHECK(any_has(loaded.warnings, "itl: milliseconds are meant here; this looks like seconds"));
    CHECK(any_has(loaded.warnings, "log_dir: has no effect"));
    CHECK(any_has(loaded.warnings, "enable_throughput_scaling: is overruled by optimization_target latency"));
    CHECK(any_has(loaded.warnings, "prefill_engine_num_gpu: is not given"));
    const auto quiet = load(R"({"ttft": 500, "itl": 8, "mode": "decode", "decode_engine_num_gpu": 1})");
    CHECK(quiet.warnings == Lines{});
}
