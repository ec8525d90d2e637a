// The worker pools of a DynamoGraphDeployment, as far as worker metadata needs them (connectors specification
// 2.2, 2.3, 2.5, 2.9): names, roles, arguments, and the namespace under which workers register. Both shapes:
// v1alpha1 with a map `spec.services`, v1beta1 with a list `spec.components`. Null counts as absent.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/role.hpp"

namespace dynaplan::wire {

struct GraphPool {
    std::string name;
    std::string kind;                    // componentType, or type; empty when not given
    std::string role;                    // subComponentType, or type; empty when not given
    std::vector<std::string> arguments;  // of the main container; none when a quote is not closed
    // Of its status, where it has one.
    bool has_status = false;
    std::optional<std::string> runtime_namespace;
    std::string component_kind;
    std::vector<std::string> component_names;  // of the objects behind it
};

struct WorkerGraph {
    std::string name;
    bool components = false;       // the shape of v1beta1
    std::vector<GraphPool> pools;  // a list's order; a map's pools by name
    std::optional<std::string> worker_hash;
};

// Fails when it is not a JSON object with a name.
Result<WorkerGraph> parse_worker_graph(std::string_view json);

// The one pool of the role; else, in v1beta1 for decode, the only pool of type worker; else the pool of this
// name, if nothing says that it has another role. Null when there is none, or more than one of the role: a
// name does not help then.
const GraphPool* find_pool(const WorkerGraph& graph, Role role, std::string_view fallback_name);

// Where the workers of the current generation register, given the deployment's namespace. Nothing while that
// cannot be told, a generation being known and no worker having a status: keep the last value.
std::optional<std::string> worker_namespace(const WorkerGraph& graph, std::string_view base);

}  // namespace dynaplan::wire
