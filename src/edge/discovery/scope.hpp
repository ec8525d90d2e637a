// Whom a planner looks at: a namespace, and in it the endpoints under which the workers of each role register
// (event-plane specification 4.3, 9).
//
// Pure text and tables; nothing here reads the environment, whoever calls hands in what it says.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/role.hpp"
#include "wire/event_scope.hpp"

namespace dynaplan::discovery {

// What DYN_NAMESPACE is when nobody sets it.
inline constexpr std::string_view default_namespace = "dynamo";
// The component under which ZMQ brokers register (specification 5.4).
inline constexpr std::string_view broker_component = "zmq_broker";

struct WorkerEndpoint {
    std::string component;
    std::string endpoint;
    bool operator==(const WorkerEndpoint&) const = default;
};

// The roles whose workers may be found at a place. Both, where a deployment uses one component for both.
struct RolesHere {
    bool prefill = false;
    bool decode = false;
    [[nodiscard]] bool any() const { return prefill || decode; }
    // The role that the place tells by itself.
    [[nodiscard]] std::optional<Role> only() const {
        if (prefill == decode) return std::nullopt;
        return prefill ? Role::prefill : Role::decode;
    }
};

struct Scope {
    std::string name_space{default_namespace};
    PerRole<std::vector<WorkerEndpoint>> endpoints;  // a role without any is not looked for

    // Of a model card's place: component and endpoint must both be named.
    [[nodiscard]] RolesHere roles_of_card(const wire::EventScope&) const;
    // Of a channel's place: April publishes for a component, August for an endpoint. A channel of the whole
    // namespace is nobody's.
    [[nodiscard]] RolesHere roles_of_channel(const wire::EventScope&) const;
    [[nodiscard]] bool is_broker(const wire::EventScope&) const;

    // What to watch in a store with path-like keys: the namespace's cards, and its channels in both eras'
    // layouts. Each ends in a slash, so that `dynamo` does not hold `dynamo2`, and none lies in another.
    // Cards of other components are among them, to be named when there are no others.
    [[nodiscard]] std::vector<std::string> watch_prefixes() const;
};

// The endpoints that a backend's workers use when nobody says otherwise, for the roles of the mode. Where the
// eras differ (trtllm) both names are looked at. Fails for a backend that is not known, and for a namespace
// that no key can hold: an empty one, or one with a slash.
Result<Scope> default_scope(std::optional<std::string_view> name_space, std::string_view backend, Mode mode);

// The root of the file store: DYN_FILE_KV, or else `dynamo_store_kv` in the folder for temporary files
// (specification 7.6). An empty value counts as none.
std::string file_store_root(std::optional<std::string_view> dyn_file_kv, std::string_view temporary_folder);

}  // namespace dynaplan::discovery
