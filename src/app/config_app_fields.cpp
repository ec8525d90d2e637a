// The typed rows beside the core's. Sources: Dynamo's PlannerConfig and environment variables (April and
// August 2026), and the design's sections 6 to 8 for ours.
#include "app/config_table.hpp"
#include "core/config_field_row.hpp"

namespace dynaplan::fields {

template <>
struct Names<app::DeployedBy> {
    static constexpr std::array<std::string_view, 3> list{"kubernetes", "virtual", "global-planner"};
};
template <>
struct Names<app::Backend> {
    static constexpr std::array<std::string_view, 4> list{"vllm", "sglang", "trtllm", "mocker"};
};
template <>
struct Names<app::TrafficMetrics> {
    static constexpr std::array<std::string_view, 2> list{"frontend", "router"};
};
template <>
struct Names<app::Transport> {
    static constexpr std::array<std::string_view, 2> list{"zmq", "nats"};
};
template <>
struct Names<app::Plane> {
    static constexpr std::array<std::string_view, 2> list{"engine", "event"};
};
template <>
struct Names<app::DiscoveryBackend> {
    static constexpr std::array<std::string_view, 4> list{"engines", "static", "file", "etcd"};
};
template <>
struct Names<app::StoreKind> {
    static constexpr std::array<std::string_view, 3> list{"file", "memory", "etcd"};
};
template <>
struct Names<app::TimeoutFrom> {
    static constexpr std::array<std::string_view, 2> list{"publication", "first_refusal"};
};

}  // namespace dynaplan::fields

namespace dynaplan::app {
namespace {

using fields::Traits;
using C = AppConfig;
constexpr double year_s = 31'536'000.0;
constexpr double port_max = 65535;

template <auto... path>
AppField row(std::string_view section, std::string_view name, Traits traits, std::string_view help) {
    return fields::row_of<AppConfig, path...>(section, name, std::move(traits), help);
}

std::vector<AppField> deployment_rows() {
    using D = DeploymentConfig;
    return {
        row<&C::deployment, &D::environment>("", "environment", {},
                                             "Who runs the fleet. Default: kubernetes when "
                                             "DYN_PARENT_DGD_K8S_NAME is set or under preset dynamo, "
                                             "else virtual."),
        row<&C::deployment, &D::dynamo_namespace>("", "namespace", {.environment = "DYN_NAMESPACE"},
                                                  "Dynamo namespace of the deployment."),
        row<&C::deployment, &D::backend>(
            "", "backend", {}, "Engine, which gives the names of its components and so their roles."),
        row<&C::deployment, &D::model_name>("", "model_name", {},
                                            "Model name where discovery does not tell it."),
        row<&C::deployment, &D::global_planner_namespace>("", "global_planner_namespace", {},
                                                          "Namespace of the global planner, for environment "
                                                          "global-planner."),
        row<&C::deployment, &D::log_dir>("", "log_dir", {}, "Accepted and without effect, as in Dynamo."),
        row<&C::deployment, &D::load_metric_samples>("", "load_metric_samples",
                                                     {.minimum = 0, .maximum = 1e9},
                                                     "Accepted and without effect, as in Dynamo."),
    };
}

std::vector<AppField> metric_rows() {
    using M = MetricsConfig;
    return {
        row<&C::metrics, &M::pulling_endpoint>(
            "", "metric_pulling_prometheus_endpoint", {.environment = "PROMETHEUS_ENDPOINT"},
            "Prometheus that knows the traffic. Giving it makes a traffic source."),
        row<&C::metrics, &M::pulling_token>("", "metric_pulling_prometheus_token",
                                            {.secret = true, .environment = "PROMETHEUS_TOKEN"},
                                            "Bearer token for it, read once."),
        row<&C::metrics, &M::pulling_token_file>("", "metric_pulling_prometheus_token_file",
                                                 {.environment = "PROMETHEUS_TOKEN_FILE"},
                                                 "File with the bearer token, read for each request."),
        row<&C::metrics, &M::pulling_ssl_verify>("", "metric_pulling_prometheus_ssl_verify",
                                                 {.environment = "PROMETHEUS_SSL_VERIFY"},
                                                 "Check the server's certificate."),
        row<&C::metrics, &M::pulling_ca_bundle>("", "metric_pulling_prometheus_ca_bundle",
                                                {.environment = "PROMETHEUS_CA_BUNDLE"},
                                                "Certificates to check it with; an existing file."),
        row<&C::metrics, &M::throughput_source>("", "throughput_metrics_source", {},
                                                "Whose counters give the traffic."),
        row<&C::metrics, &M::reporting_port>(
            "", "metric_reporting_prometheus_port",
            {.unit = "port", .minimum = 0, .maximum = port_max, .environment = "PLANNER_PROMETHEUS_PORT"},
            "Above 0: a second listener on all addresses, for /metrics, /healthz and /readyz only."),
    };
}

std::vector<AppField> report_rows() {
    using R = ReportConfig;
    return {
        row<&C::report, &R::interval_hours>(
            "", "report_interval_hours", {.unit = "h", .minimum = 0, .above_minimum = true, .maximum = 1e6},
            "Time between two reports; null for none."),
        row<&C::report, &R::output_dir>("", "report_output_dir", {}, "Folder of the reports."),
        row<&C::report, &R::filename>(
            "", "report_filename", {},
            "Fixed name of the report, written over each time; null for a name with time "
            "and number."),
        row<&C::report, &R::write_gzip_log>("", "report_write_gzip_log", {},
                                            "Write the report's numbers beside it as compressed JSON lines."),
        row<&C::report, &R::dashboard_port>(
            "", "live_dashboard_port", {.unit = "port", .minimum = 0, .maximum = port_max},
            "A listener of its own for the dashboard, opened only when this is written; 0 for none."),
    };
}

std::vector<AppField> bus_rows() {
    using B = BusConfig;
    return {
        row<&C::bus, &BusConfig::transport>("bus", "transport", {.environment = "DYN_EVENT_PLANE"},
                                            "How the engines' reports arrive."),
        row<&C::bus, &BusConfig::plane>(
            "bus", "plane", {},
            "engine: the raw frames of each engine. event: Dynamo's event plane, with "
            "endpoints found by discovery or listed; the default where DYN_EVENT_PLANE is set."),
        row<&C::bus, &BusConfig::server>("bus", "server", {.environment = "NATS_SERVER"},
                                         "NATS server, or several with commas between."),
        row<&C::bus, &B::username>(
            "bus", "username", {.environment = "NATS_AUTH_USERNAME"},
            "NATS user; together with the password. Without any way to log in: user, user."),
        row<&C::bus, &B::password>("bus", "password", {.secret = true, .environment = "NATS_AUTH_PASSWORD"},
                                   "Password of that user."),
        row<&C::bus, &B::token>("bus", "token", {.secret = true, .environment = "NATS_AUTH_TOKEN"},
                                "NATS token, where no user is given."),
        row<&C::bus, &B::nkey>("bus", "nkey", {.secret = true, .environment = "NATS_AUTH_NKEY"},
                               "NATS nkey seed, where neither is given."),
        row<&C::bus, &B::credentials_file>("bus", "credentials_file",
                                           {.environment = "NATS_AUTH_CREDENTIALS_FILE"},
                                           "NATS credentials file, where none of these is given."),
        row<&C::bus, &B::tls_ca>("bus", "tls_ca", {.environment = "NATS_TLS_CA_CERT_PATH"},
                                 "File with the certificates to trust, for a tls:// server."),
        row<&C::bus, &B::tls_insecure>("bus", "tls_insecure", {.environment = "NATS_TLS_INSECURE"},
                                       "Do not check the certificate of a tls:// server."),
        row<&C::bus, &B::broker>(
            "bus", "broker", {.environment = "DYN_ZMQ_BROKER_URL"},
            "Brokers of the event plane over ZeroMQ: xsub=URL[;URL...],xpub=URL[;URL...]."),
        row<&C::bus, &B::broker_enabled>(
            "bus", "broker_enabled", {.environment = "DYN_ZMQ_BROKER_ENABLED"},
            "The event plane over ZeroMQ goes through brokers, which discovery finds."),
        row<&C::bus, &B::broker_drop_repeats>("bus", "broker_drop_repeats", {},
                                              "With several brokers: drop what comes again by publisher and "
                                              "sequence. Off for publishers of April, "
                                              "whose ranks share both."),
        row<&C::discovery, &DiscoveryConfig::backend>(
            "discovery", "backend", {.environment = "DYN_DISCOVERY_BACKEND"},
            "How engines are found: those that report (engines), those "
            "listed at bus.endpoints (static), Dynamo's files, or etcd."),
        row<&C::discovery, &DiscoveryConfig::path>(
            "discovery", "path", {.environment = "DYN_FILE_KV"},
            "Root folder of the file backend; null: dynamo_store_kv in the "
            "folder for temporary files."),
    };
}

std::vector<AppField> decision_rows() {
    using D = DecisionsConfig;
    using E = EtcdConfig;
    return {
        row<&C::decisions, &D::store>(
            "decisions", "store", {},
            "Where decisions are kept: a file (the default), memory (tests), or etcd, "
            "which brings leader election."),
        row<&C::decisions, &D::path>("decisions", "path", {}, "Folder of the file store."),
        row<&C::decisions, &D::timeout>(
            "decisions", "timeout_s",
            {.unit = "s",
             .minimum = 0,
             .above_minimum = true,
             .maximum = year_s,
             .environment = "SCALING_MAX_WAIT_TIME"},
            "After this time without an acknowledgement a decision may be superseded."),
        row<&C::decisions, &D::timeout_from>("decisions", "timeout_from", {},
                                             "What that time is counted from."),
        row<&C::decisions, &D::check_interval>(
            "decisions", "check_interval_s",
            {.unit = "s",
             .minimum = 0,
             .above_minimum = true,
             .maximum = year_s,
             .environment = "SCALING_CHECK_INTERVAL"},
            "Time between two looks at an open decision where nothing announces "
            "its change."),
        row<&C::etcd, &E::lease_ttl>(
            "etcd", "lease_ttl_s",
            {.unit = "s", .minimum = 1, .maximum = 86400, .environment = "ETCD_LEASE_TTL", .whole = true},
            "Life of the leader's lease."),
        row<&C::etcd, &E::username>("etcd", "username", {.environment = "ETCD_AUTH_USERNAME"}, "User name."),
        row<&C::etcd, &E::password>("etcd", "password", {.secret = true, .environment = "ETCD_AUTH_PASSWORD"},
                                    "Password of that user."),
        row<&C::etcd, &E::ca>("etcd", "ca", {.environment = "ETCD_AUTH_CA"},
                              "File with the certificates to trust."),
        row<&C::etcd, &E::client_cert>("etcd", "client_cert", {.environment = "ETCD_AUTH_CLIENT_CERT"},
                                       "File with our own certificate."),
        row<&C::etcd, &E::client_key>("etcd", "client_key", {.environment = "ETCD_AUTH_CLIENT_KEY"},
                                      "File with the key to our certificate."),
    };
}

std::vector<AppField> service_rows() {
    using J = JournalConfig;
    return {
        row<&C::http, &HttpConfig::listen>(
            "http", "listen", {},
            "Address of the one HTTP server; port 0 means any free one, off means no "
            "server. Beyond loopback http.token_file is needed. Dynamo's control_api_port sets this port, "
            "too."),
        row<&C::http, &HttpConfig::token_file>(
            "http", "token_file", {}, "File with the token that calls which change something must bring."),
        row<&C::journal, &J::dir>("journal", "dir", {}, "Folder of the journal; null for none."),
        row<&C::journal, &J::segment_mb>("journal", "segment_mb",
                                         {.unit = "MB", .minimum = 1, .maximum = 1e6},
                                         "A segment of this size is closed."),
        row<&C::journal, &J::segment_age>("journal", "segment_s",
                                          {.unit = "s", .minimum = 1, .maximum = year_s},
                                          "A segment of this age is closed."),
        row<&C::journal, &J::kept_mb>("journal", "kept_mb", {.unit = "MB", .minimum = 1, .maximum = 1e9},
                                      "All segments together; the oldest go first."),
    };
}

}  // namespace

std::span<const AppField> app_fields() {
    static const auto rows = [] {
        std::vector<AppField> all;
        for (const auto& part :
             {deployment_rows(), metric_rows(), report_rows(), bus_rows(), decision_rows(), service_rows()}) {
            all.insert(all.end(), part.begin(), part.end());
        }
        return all;
    }();
    return rows;
}

std::span<const ListField> list_fields() {
    static const std::vector<ListField> rows{
        {.path = "bus.endpoints",
         .help = "Engines or publishers to connect to: {url, role, worker_id} each, or a bare url. With "
                 "discovery.backend "
                 "static and an id for each, only these workers are listened to.",
         .endpoints = [](AppConfig& c) -> std::vector<BusEndpoint>& { return c.bus.endpoints; }},
        {.path = "etcd.endpoints",
         .environment = "ETCD_ENDPOINTS",
         .help = "URLs of the etcd members.",
         .texts = [](AppConfig& c) -> std::vector<std::string>& { return c.etcd.endpoints; }},
        {.path = "metric_pulling_prometheus_extra_query_params",
         .environment = "PROMETHEUS_EXTRA_QUERY_PARAMS",
         .help = "Parameters added to each query; in the environment as a query string.",
         .pairs = [](AppConfig& c) -> std::map<std::string, std::string>& {
             return c.metrics.pulling_query_params;
         }},
    };
    return rows;
}

}  // namespace dynaplan::app
