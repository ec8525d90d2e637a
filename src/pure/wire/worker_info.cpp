#include "wire/worker_info.hpp"

#include <algorithm>

#include "wire/command_words.hpp"
#include "wire/endpoint_name.hpp"

namespace dynaplan::wire {

namespace {

// Is the object named after the graph, or after one of the objects behind its pools (long names are hashed)?
bool belongs_to(const KubeWorker& worker, const WorkerGraph& graph) {
    const auto starts_with_name = [&](const std::string& name) {
        return worker.name.starts_with(name + '-');
    };
    if (starts_with_name(graph.name)) return true;
    return std::any_of(graph.pools.begin(), graph.pools.end(), [&](const GraphPool& pool) {
        return std::any_of(
            pool.component_names.begin(), pool.component_names.end(),
            [&](const std::string& name) { return worker.name == name || starts_with_name(name); });
    });
}

// The component that the worker's arguments name.
std::optional<std::string> component_of_arguments(const GraphPool* pool) {
    if (pool == nullptr) return std::nullopt;
    const auto given = flag_value(pool->arguments, "--endpoint");
    if (!given) return std::nullopt;
    std::string_view text = *given;
    constexpr std::string_view scheme = "dyn://";
    if (text.starts_with(scheme)) text.remove_prefix(scheme.size());
    auto name = parse_endpoint_name(text);
    if (!name) return std::nullopt;
    return std::move(name->component);
}

struct Wanted {
    Role role;
    std::string_view name_space;
    std::optional<std::string> component;
    [[nodiscard]] bool is(const ModelRecord& record) const {
        if (record.model_suffix || record.name_space != name_space) return false;
        if (record.card.role != role) return false;  // an encoder has none
        return !component || !record.component || record.component == component;
    }
};

const ModelRecord* lowest(const Wanted& wanted, const WorkerGraph& graph,
                          std::span<const KubeWorker> workers) {
    const ModelRecord* found = nullptr;
    for (const KubeWorker& worker : workers) {
        if (!belongs_to(worker, graph)) continue;
        for (const ModelRecord& record : worker.records.model_cards) {
            if (!wanted.is(record)) continue;
            if (found == nullptr || record.instance_id < found->instance_id) found = &record;
        }
    }
    return found;
}

std::optional<std::string> model_of_pool(const GraphPool* pool) {
    return pool == nullptr ? std::nullopt : model_of_arguments(pool->arguments);
}

}  // namespace

WorkerInfo resolve_worker_info(const WorkerInfoQuery& query, const WorkerGraph& graph,
                               std::span<const KubeWorker> workers) {
    const auto pool_of = [&](Role role) {
        const auto names = backend_names(query.backend, role, query.era);
        return find_pool(graph, role, names ? names->service : std::string_view{});
    };
    WorkerInfo info;
    const auto names = backend_names(query.backend, query.role, query.era);
    if (!names) return info;  // of an unknown backend nothing is known
    const GraphPool* pool = pool_of(query.role);
    info.pool_name = pool != nullptr ? pool->name : std::string{names->service};
    info.component = std::string{names->component};
    info.endpoint = std::string{names->endpoint};

    Wanted wanted{query.role, query.name_space, component_of_arguments(pool)};
    if (!wanted.component) wanted.component = std::string{names->component};
    if (const ModelRecord* record = lowest(wanted, graph, workers); record != nullptr) {
        if (record->component) info.component = record->component;
        if (record->endpoint) info.endpoint = record->endpoint;
        info.card = record->card;
        info.model_name = record->card.model_name;
    }
    // The pool's own arguments, then those of the other role's: a graph serves one model.
    if (!info.model_name) info.model_name = model_of_pool(pool);
    const Role other = query.role == Role::prefill ? Role::decode : Role::prefill;
    if (!info.model_name) info.model_name = model_of_pool(pool_of(other));
    return info;
}

}  // namespace dynaplan::wire
