#include "wire/graph_pools.hpp"

#include <algorithm>
#include <iterator>

#include "wire/command_words.hpp"
#include "wire/json_at_path.hpp"

namespace dynaplan::wire {

namespace {

using nlohmann::json;

// A text, or a list of texts; what is not text is left out.
std::vector<std::string> arguments_of(const json* args) {
    std::vector<std::string> words;
    if (args == nullptr) return words;
    const auto take = [&](const json& one) {
        if (!one.is_string()) return true;
        auto more = shell_words(one.get_ref<const std::string&>());
        if (!more) return false;
        std::move(more->begin(), more->end(), std::back_inserter(words));
        return true;
    };
    if (args->is_array()) {
        for (const json& one : *args) {
            if (!take(one)) return {};
        }
    } else if (!take(*args)) {
        return {};
    }
    return words;
}

void read_status(const json* status, GraphPool& pool) {
    if (status == nullptr || !status->is_object()) return;
    pool.has_status = true;
    pool.runtime_namespace = text_at(*status, {"runtimeNamespace"});
    pool.component_kind = text_at(*status, {"componentKind"}).value_or("");
    const json* names = at_path(*status, {"componentNames"});
    if (names == nullptr || !names->is_array()) return;
    for (const json& name : *names) {
        if (name.is_string()) pool.component_names.push_back(name.get<std::string>());
    }
}

GraphPool service_pool(const std::string& name, const json& service, const json& graph) {
    GraphPool pool;
    pool.name = name;
    pool.kind = text_at(service, {"componentType"}).value_or("");
    pool.role = text_at(service, {"subComponentType"}).value_or("");
    pool.arguments = arguments_of(at_path(service, {"extraPodSpec", "mainContainer", "args"}));
    read_status(at_path(graph, {"status", "services", name}), pool);
    return pool;
}

std::optional<GraphPool> component_pool(const json& component, const json& graph) {
    auto name = text_at(component, {"name"});
    if (!name) return std::nullopt;
    GraphPool pool;
    pool.name = std::move(*name);
    pool.kind = text_at(component, {"type"}).value_or("");
    pool.role = pool.kind;
    const json* containers = at_path(component, {"podTemplate", "spec", "containers"});
    if (containers != nullptr && containers->is_array()) {
        const auto main = std::find_if(containers->begin(), containers->end(), [](const json& container) {
            return text_at(container, {"name"}) == "main";
        });
        if (main != containers->end()) pool.arguments = arguments_of(at_path(*main, {"args"}));
    }
    read_status(at_path(graph, {"status", "components", pool.name}), pool);
    return pool;
}

bool is_worker_class(const GraphPool& pool) {
    const std::string& word = pool.kind.empty() ? pool.name : pool.kind;
    return word == "worker" || word == "prefill" || word == "decode";
}

}  // namespace

Result<WorkerGraph> parse_worker_graph(std::string_view text) {
    const json value = json_of(text);
    if (!value.is_object()) return failure("DynamoGraphDeployment: not a JSON object");
    auto name = text_at(value, {"metadata", "name"});
    if (!name) return failure("DynamoGraphDeployment: metadata.name is missing");
    WorkerGraph graph;
    graph.name = std::move(*name);
    for (const char* annotation : {"nvidia.com/current-worker-hash", "nvidia.com/current-worker-hash-v2"}) {
        if (!graph.worker_hash) graph.worker_hash = text_at(value, {"metadata", "annotations", annotation});
    }
    if (const json* list = at_path(value, {"spec", "components"}); list != nullptr && list->is_array()) {
        graph.components = true;
        for (const json& component : *list) {
            if (auto pool = component_pool(component, value)) graph.pools.push_back(std::move(*pool));
        }
    } else if (const json* map = at_path(value, {"spec", "services"}); map != nullptr && map->is_object()) {
        for (const auto& [service_name, service] : map->items()) {
            graph.pools.push_back(service_pool(service_name, service, value));
        }
    }
    return graph;
}

const GraphPool* find_pool(const WorkerGraph& graph, Role role, std::string_view fallback_name) {
    // The only pool for which `is` holds; null for none and for several.
    std::size_t found = 0;
    const auto only = [&](auto&& is) -> const GraphPool* {
        found = 0;
        const GraphPool* pool = nullptr;
        for (const GraphPool& one : graph.pools) {
            if (!is(one)) continue;
            pool = &one;
            ++found;
        }
        return found == 1 ? pool : nullptr;
    };
    const GraphPool* of_role = only([&](const GraphPool& pool) { return pool.role == to_string(role); });
    if (found > 0) return of_role;
    if (graph.components && role == Role::decode) {
        const GraphPool* worker = only([](const GraphPool& pool) { return pool.role == "worker"; });
        if (worker != nullptr) return worker;
    }
    return only([&](const GraphPool& pool) {
        const bool no_other_role = pool.role.empty() || (graph.components && pool.role == "worker");
        return pool.name == fallback_name && no_other_role;
    });
}

std::optional<std::string> worker_namespace(const WorkerGraph& graph, std::string_view base) {
    const auto worker = std::find_if(graph.pools.begin(), graph.pools.end(), [](const GraphPool& pool) {
        return is_worker_class(pool) && pool.has_status;
    });
    const bool known = worker != graph.pools.end();
    if (known && worker->runtime_namespace && !worker->runtime_namespace->empty()) {
        return worker->runtime_namespace;
    }
    if (!graph.worker_hash || graph.worker_hash->empty()) return std::string{base};
    if (!known) return std::nullopt;
    const bool own_namespace =
        worker->component_kind == "Deployment" || worker->component_kind == "LeaderWorkerSet";
    return own_namespace ? std::string{base} + '-' + *graph.worker_hash : std::string{base};
}

}  // namespace dynaplan::wire
