// The endpoint a planner listens to for a role: `{namespace}.{component}.{endpoint}`, and the names that each
// backend's workers use when nobody says otherwise (event-plane specification 4.3, connectors specification
// 5.1).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "core/role.hpp"
#include "wire/era.hpp"
#include "wire/event_scope.hpp"

namespace dynaplan::wire {

struct EndpointName {
    std::string name_space;
    std::string component;
    std::string endpoint;
    [[nodiscard]] std::string text() const { return name_space + '.' + component + '.' + endpoint; }
    [[nodiscard]] EventScope scope() const { return {name_space, component, endpoint}; }
    bool operator==(const EndpointName&) const = default;
};

// Exactly three parts between dots, none of them empty. So a nested namespace (`parent.child`) cannot be
// written in this form.
Result<EndpointName> parse_endpoint_name(std::string_view text);

struct BackendNames {
    std::string_view service;    // of the graph's pool
    std::string_view component;  // under which its workers register
    std::string_view endpoint;
};

// Nothing for a backend that is not known. Where the era is not known either, ask for April: the names differ
// only for trtllm, whose workers kept April's component in the event plane (4.3).
std::optional<BackendNames> backend_names(std::string_view backend, Role role, Era era);

}  // namespace dynaplan::wire
