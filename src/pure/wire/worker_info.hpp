// What is known of a role's workers on Kubernetes, resolved from the graph and the workers' own records
// (connectors specification 5, rules M-1 and M-2): which pool, under which names they register, the model,
// and the card of one of them. The answer does not depend on the order of the objects.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/role.hpp"
#include "wire/era.hpp"
#include "wire/graph_pools.hpp"
#include "wire/kube_metadata.hpp"
#include "wire/model_card.hpp"

namespace dynaplan::wire {

// Each is empty where nobody says it. Capabilities: capabilities(*card, era).
struct WorkerInfo {
    std::optional<std::string> pool_name;
    std::optional<std::string> component;
    std::optional<std::string> endpoint;
    std::optional<std::string> model_name;
    std::optional<ModelCard> card;
};

struct WorkerInfoQuery {
    Role role = Role::decode;
    std::string_view backend;
    Era era = Era::april;         // of the workers: their names and where the context length stands
    std::string_view name_space;  // in which they register; see worker_namespace
};

// Of the cards of the role, namespace and component, adapters left out, that of the lowest instance id. A
// worker's component is the one its arguments name (`--endpoint`), else the backend's. Objects of other
// graphs are told apart by their names and by the namespace in the record.
WorkerInfo resolve_worker_info(const WorkerInfoQuery& query, const WorkerGraph& graph,
                               std::span<const KubeWorker> workers);

}  // namespace dynaplan::wire
