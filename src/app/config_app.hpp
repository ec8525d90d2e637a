// The whole configuration of the program: what the core reads, Dynamo's other fields, and our own sections
// beside them. Plain structs with their defaults; app/config_load fills them, each part of the program gets
// its own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/config.hpp"

namespace dynaplan::app {

enum class DeployedBy : std::uint8_t { kubernetes, virtual_connector, global_planner };
enum class Backend : std::uint8_t { vllm, sglang, trtllm, mocker };

// Dynamo's fields about the deployment.
struct DeploymentConfig {
    DeployedBy environment = DeployedBy::virtual_connector;
    std::string dynamo_namespace = "dynamo";
    Backend backend = Backend::vllm;
    std::optional<std::string> model_name;
    std::optional<std::string> global_planner_namespace;
    std::optional<std::string> graph_name;     // DYN_PARENT_DGD_K8S_NAME, not a field
    std::optional<std::string> pod_namespace;  // POD_NAMESPACE, not a field
    std::optional<std::string> log_dir;        // without effect, in Dynamo too
    std::int64_t load_metric_samples = 10;     // without effect, in Dynamo too
};

enum class TrafficMetrics : std::uint8_t { frontend, router };

// Where traffic is read, and where our metrics are shown.
struct MetricsConfig {
    std::string pulling_endpoint =
        "http://prometheus-kube-prometheus-prometheus.monitoring.svc.cluster.local:9090";
    std::optional<std::string> pulling_token;
    std::optional<std::string> pulling_token_file;
    bool pulling_ssl_verify = false;
    std::map<std::string, std::string> pulling_query_params;
    std::optional<std::string> pulling_ca_bundle;
    TrafficMetrics throughput_source = TrafficMetrics::frontend;
    std::int64_t reporting_port = 0;  // 0: no listener beside http.listen
};

struct ReportConfig {
    std::optional<double> interval_hours = 24.0;  // empty: no periodic reports
    std::string output_dir = "./planner_reports";
    std::optional<std::string> filename;
    bool write_gzip_log = true;
    std::optional<std::int64_t> dashboard_port;  // opened only when it is written
};

enum class Transport : std::uint8_t { zmq, nats };
enum class Plane : std::uint8_t { engine, event };

struct BusEndpoint {
    std::string url;
    std::optional<Role> role;                             // empty: from the component, else from the mode
    std::optional<std::string> worker_id = std::nullopt;  // for discovery.backend static: who reports there
    bool operator==(const BusEndpoint&) const = default;
};
struct BusConfig {
    Transport transport = Transport::zmq;
    Plane plane = Plane::engine;
    std::string server = "nats://localhost:4222";
    // NATS: the first of these that is given is used.
    std::optional<std::string> username;
    std::optional<std::string> password;
    std::optional<std::string> token;
    std::optional<std::string> nkey;
    std::optional<std::string> credentials_file;
    std::optional<std::string> tls_ca;
    bool tls_insecure = false;
    // ZeroMQ behind brokers: their addresses as text, or found by discovery.
    std::optional<std::string> broker;
    bool broker_enabled = false;
    bool broker_drop_repeats = true;
    std::vector<BusEndpoint> endpoints;
};

enum class DiscoveryBackend : std::uint8_t { engines, static_list, file, etcd };
struct DiscoveryConfig {
    DiscoveryBackend backend = DiscoveryBackend::engines;
    std::optional<std::string> path;  // root of the file backend
};

enum class StoreKind : std::uint8_t { file, memory, etcd };
enum class TimeoutFrom : std::uint8_t { publication, first_refusal };
struct DecisionsConfig {
    StoreKind store = StoreKind::file;
    std::string path = "decisions";
    Seconds timeout{1800.0};
    TimeoutFrom timeout_from = TimeoutFrom::publication;
    Seconds check_interval{10.0};
};

struct EtcdConfig {
    std::vector<std::string> endpoints{"http://127.0.0.1:2379"};
    Seconds lease_ttl{10.0};
    std::optional<std::string> username;
    std::optional<std::string> password;
    std::optional<std::string> ca;
    std::optional<std::string> client_cert;
    std::optional<std::string> client_key;
};

struct HttpConfig {
    std::string listen = "127.0.0.1:9086";  // "off": no server
    std::optional<std::string> token_file;
};

struct JournalConfig {
    std::optional<std::string> dir = "journal";  // empty: no journal
    std::int64_t segment_mb = 256;
    Seconds segment_age{3600.0};
    std::int64_t kept_mb = 4096;
};

struct AppConfig {
    PlannerConfig planner;
    DeploymentConfig deployment;
    MetricsConfig metrics;
    ReportConfig report;
    BusConfig bus;
    DiscoveryConfig discovery;
    DecisionsConfig decisions;
    EtcdConfig etcd;
    HttpConfig http;
    JournalConfig journal;
};

// "host:port" split at the last colon; empty when there is no port in 0..65535 or no host.
struct HostPort {
    std::string host;
    std::int64_t port = 0;
};
std::optional<HostPort> host_port(const std::string& listen);
bool is_loopback(const std::string& host);

}  // namespace dynaplan::app
