#include "app/source_parts.hpp"

#include <filesystem>
#include <utility>

#include "wire/broker_url.hpp"

namespace dynaplan::app {

namespace {

// A mode with one role gives it to every endpoint that names none.
std::optional<Role> role_of(const BusEndpoint& endpoint, Mode mode) {
    if (endpoint.role) return endpoint.role;
    if (mode == Mode::disagg) return std::nullopt;
    return mode == Mode::prefill ? Role::prefill : Role::decode;
}

std::string_view backend_word(Backend backend) {
    switch (backend) {
        case Backend::vllm: return "vllm";
        case Backend::sglang: return "sglang";
        case Backend::trtllm: return "trtllm";
        case Backend::mocker: return "mocker";
    }
    return "";
}

// Does discovery find workers, with their roles and addresses? A list only says what stands in it.
bool finds_workers(const AppConfig& c) {
    return c.discovery.backend == DiscoveryBackend::file || c.discovery.backend == DiscoveryBackend::etcd;
}

std::vector<bus::WantedEndpoint> wanted(const discovery::Scope& scope) {
    std::vector<bus::WantedEndpoint> endpoints;
    for (const Role role : all_roles) {
        for (const discovery::WorkerEndpoint& e : scope.endpoints[role])
            endpoints.push_back({{scope.name_space, e.component, e.endpoint}, role});
    }
    return endpoints;
}

void check_endpoints(const AppConfig& c, std::vector<std::string>& problems) {
    for (const BusEndpoint& endpoint : c.bus.endpoints) {
        const auto role = role_of(endpoint, c.planner.mode);
        if (!role) {
            problems.push_back("bus.endpoints: " + endpoint.url +
                               ": mode disagg needs role: prefill or decode");
        } else if (!has_role(c.planner.mode, *role)) {
            problems.push_back("bus.endpoints: " + endpoint.url + ": mode " +
                               std::string{to_string(c.planner.mode)} + " has no role " +
                               std::string{to_string(*role)});
        }
    }
}

void check_bus(const AppConfig& c, std::vector<std::string>& problems) {
    const bool found = finds_workers(c);
    switch (bus_kind(c)) {
        case BusKind::engine_hop:
            if (c.bus.endpoints.empty()) {
                problems.emplace_back(
                    "bus.endpoints: plane engine needs the engines' addresses, as [{url: "
                    "\"tcp://127.0.0.1:20380\", role: decode}]");
            }
            break;
        case BusKind::event_direct:
            if (c.bus.endpoints.empty() && !found) {
                problems.emplace_back(
                    "bus.endpoints: plane event needs the publishers' addresses where discovery (backend "
                    "file or "
                    "etcd) does not find them");
            }
            break;
        case BusKind::event_broker:
            if (const auto urls = broker_urls(c); !urls) {
                problems.push_back(urls.error().message);
            } else if (urls->empty() && !found) {
                problems.emplace_back(
                    "bus.broker: name the brokers (xsub=URL,xpub=URL), or let discovery (backend file or "
                    "etcd) find "
                    "them");
            }
            break;
        case BusKind::nats:
            if (const auto plane = nats_plane(c); !plane) {
                problems.push_back(plane.error().message);
            } else if (const auto checked = bus::check(plane->connection); !checked) {
                problems.push_back("bus: " + checked.error().message);
            }
            break;
    }
}

}  // namespace

BusKind bus_kind(const AppConfig& c) {
    if (c.bus.transport == Transport::nats) return BusKind::nats;
    if (c.bus.plane == Plane::engine) return BusKind::engine_hop;
    return c.bus.broker || c.bus.broker_enabled ? BusKind::event_broker : BusKind::event_direct;
}

std::string_view to_string(BusKind kind) {
    switch (kind) {
        case BusKind::engine_hop: return "zmq engine";
        case BusKind::event_direct: return "zmq event";
        case BusKind::event_broker: return "zmq broker";
        case BusKind::nats: return "nats";
    }
    return "";
}

std::string_view discovery_word(DiscoveryBackend backend) {
    switch (backend) {
        case DiscoveryBackend::engines: return "engines";
        case DiscoveryBackend::static_list: return "static";
        case DiscoveryBackend::file: return "file";
        case DiscoveryBackend::etcd: return "etcd";
    }
    return "";
}

std::vector<std::string> source_problems(const AppConfig& c) {
    std::vector<std::string> problems;
    check_bus(c, problems);
    const BusKind kind = bus_kind(c);
    const bool listens_to_addresses = kind == BusKind::engine_hop || kind == BusKind::event_direct;
    if (listens_to_addresses && !finds_workers(c)) check_endpoints(c, problems);
    if (!listens_to_addresses && !c.bus.endpoints.empty()) {
        problems.push_back("bus.endpoints: are not used with " + std::string{to_string(kind)} +
                           ": leave them out, or set bus.transport: zmq");
    }
    if (c.discovery.backend == DiscoveryBackend::static_list) {
        if (const auto checked = discovery::StaticList::check(static_workers(c)); !checked)
            problems.push_back("bus.endpoints: " + checked.error().message);
    }
    if (const auto scope = discovery_scope(c); !scope)
        problems.push_back("namespace: " + scope.error().message);
    return problems;
}

std::vector<bus::HopEndpoint> hop_endpoints(const AppConfig& c) {
    std::vector<bus::HopEndpoint> endpoints;
    for (const BusEndpoint& endpoint : c.bus.endpoints)
        endpoints.push_back({endpoint.url, role_of(endpoint, c.planner.mode)});
    return endpoints;
}

std::vector<bus::EventEndpoint> event_endpoints(const AppConfig& c) {
    std::vector<bus::EventEndpoint> endpoints;
    for (const BusEndpoint& endpoint : c.bus.endpoints)
        endpoints.push_back({endpoint.url, role_of(endpoint, c.planner.mode)});
    return endpoints;
}

Result<std::vector<std::string>> broker_urls(const AppConfig& c) {
    if (!c.bus.broker) return std::vector<std::string>{};
    auto urls = wire::parse_broker_url(*c.bus.broker);
    if (!urls) return failure("bus.broker: " + urls.error().message);
    return std::move(urls->xpub);
}

Result<bus::BrokerOptions> broker_options(const AppConfig& c, const std::vector<std::string>& xpub_urls) {
    auto scope = discovery_scope(c);
    if (!scope) return tl::unexpected{scope.error()};
    bus::BrokerOptions options;
    options.xpub_urls = xpub_urls;
    options.drop_repeats = c.bus.broker_drop_repeats;
    options.endpoints = wanted(*scope);
    return options;
}

Result<bus::NatsPlane> nats_plane(const AppConfig& c) {
    auto scope = discovery_scope(c);
    if (!scope) return tl::unexpected{scope.error()};
    bus::NatsPlane plane;
    plane.connection.server = c.bus.server;
    plane.connection.login = {c.bus.username, c.bus.password, c.bus.token, c.bus.nkey,
                              c.bus.credentials_file};
    plane.connection.tls_ca_path = c.bus.tls_ca;
    plane.connection.tls_insecure = c.bus.tls_insecure;
    plane.endpoints = wanted(*scope);
    return plane;
}

Result<discovery::Scope> discovery_scope(const AppConfig& c) {
    return discovery::default_scope(c.deployment.dynamo_namespace, backend_word(c.deployment.backend),
                                    c.planner.mode);
}

std::string discovery_root(const AppConfig& c) {
    std::error_code error;
    std::string temporary = std::filesystem::temp_directory_path(error).string();
    if (error) temporary = "/tmp";
    return discovery::file_store_root(c.discovery.path, temporary);
}

std::vector<discovery::StaticWorker> static_workers(const AppConfig& c) {
    std::vector<discovery::StaticWorker> workers;
    for (const BusEndpoint& endpoint : c.bus.endpoints) {
        discovery::StaticWorker worker;
        worker.role = role_of(endpoint, c.planner.mode).value_or(Role::decode);
        worker.worker_id = endpoint.worker_id;
        worker.url = endpoint.url;
        workers.push_back(std::move(worker));
    }
    return workers;
}

}  // namespace dynaplan::app
