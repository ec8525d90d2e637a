#include "app/serve_parts.hpp"

#include "core/config_field.hpp"

namespace dynaplan::app {

namespace {

// A mode with one role gives it to every endpoint that names none.
std::optional<Role> role_of(const BusEndpoint& endpoint, Mode mode) {
    if (endpoint.role) return endpoint.role;
    if (mode == Mode::disagg) return std::nullopt;
    return mode == Mode::prefill ? Role::prefill : Role::decode;
}

}  // namespace

std::vector<std::string> source_problems(const AppConfig& c) {
    std::vector<std::string> problems;
    if (c.bus.transport != Transport::zmq)
        problems.emplace_back("bus.transport: serve listens over zmq only in this version");
    if (c.bus.plane != Plane::engine)
        problems.emplace_back("bus.plane: serve attaches to engines (plane: engine) only in this version");
    if (c.discovery.backend != DiscoveryBackend::engines)
        problems.emplace_back("discovery.backend: only 'engines' (those that report) in this version");
    if (c.bus.endpoints.empty()) {
        problems.emplace_back(
            "bus.endpoints: give the engines' addresses, as [{url: \"tcp://127.0.0.1:20380\", role: "
            "decode}]");
    }
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
    return problems;
}

std::vector<std::string> serve_problems(const AppConfig& c) {
    std::vector<std::string> problems = source_problems(c);
    if (c.decisions.store == StoreKind::etcd)
        problems.emplace_back("decisions.store: 'file' or 'memory' in this version");
    return problems;
}

std::vector<bus::HopEndpoint> hop_endpoints(const AppConfig& c) {
    std::vector<bus::HopEndpoint> endpoints;
    for (const BusEndpoint& endpoint : c.bus.endpoints) {
        if (const auto role = role_of(endpoint, c.planner.mode)) endpoints.push_back({endpoint.url, *role});
    }
    return endpoints;
}

decision::CoordinatorConfig coordinator_config(const AppConfig& c) {
    return {c.decisions.timeout_from == TimeoutFrom::publication ? decision::TimeoutFrom::publication
                                                                 : decision::TimeoutFrom::first_refusal,
            c.decisions.timeout};
}

std::vector<std::pair<std::string, FieldValue>> changed_fields(const PlannerConfig& from,
                                                               const PlannerConfig& to) {
    std::vector<std::pair<std::string, FieldValue>> changed;
    const std::vector<NamedValue> before = values_of(from);
    const std::vector<NamedValue> after = values_of(to);
    for (std::size_t i = 0; i < after.size() && i < before.size(); ++i) {
        if (!(after[i] == before[i])) changed.push_back(after[i]);
    }
    return changed;
}

}  // namespace dynaplan::app
