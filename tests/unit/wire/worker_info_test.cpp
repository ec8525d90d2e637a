// What is known of a role's workers on Kubernetes (connectors specification 5.2, 5.3: M-1 and M-2).
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "wire/worker_info.hpp"

namespace dynaplan::wire {
namespace {

GraphPool pool(const std::string& name, const std::string& role, std::vector<std::string> arguments = {}) {
    GraphPool out;
    out.name = name;
    out.role = role;
    out.arguments = std::move(arguments);
    return out;
}

WorkerGraph graph_of(std::vector<GraphPool> pools) { return {"g", false, std::move(pools), {}}; }

struct Card {
    std::string model = "m";
    std::string component = "backend";
    std::string name_space = "ns";
    std::optional<Role> role = Role::decode;
    std::optional<std::string> suffix = std::nullopt;
};

KubeWorker worker(const std::string& name, std::uint64_t id, const Card& card = {}) {
    ModelRecord record;
    record.name_space = card.name_space;
    record.component = card.component;
    record.endpoint = "generate";
    record.instance_id = id;
    record.model_suffix = card.suffix;
    record.card.model_name = card.model;
    record.card.role = card.role;
    record.card.is_prefill = card.role == Role::prefill;
    return {name, {{}, {record}, {}, 0}};
}

WorkerInfo resolved(const WorkerGraph& graph, const std::vector<KubeWorker>& workers,
                    Role role = Role::decode, std::string_view backend = "vllm") {
    return resolve_worker_info({role, backend, Era::august, "ns"}, graph, workers);
}

TEST_CASE("worker info: the card of the lowest id, in whatever order the objects come") {
    std::vector<KubeWorker> workers{worker("g-a", 1ULL << 63U, {"high"}), worker("g-b", 7, {"low"}),
                                    worker("g-c", 8, {"middle"})};
    std::sort(workers.begin(), workers.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    do {
        CHECK(resolved(graph_of({}), workers).model_name == "low");
    } while (std::next_permutation(workers.begin(), workers.end(),
                                   [](const auto& a, const auto& b) { return a.name < b.name; }));
}

TEST_CASE("worker info: adapters, other namespaces, roles and components are left out") {
    CHECK_FALSE(
        resolved(graph_of({}), {worker("g-a", 1, {"m", "backend", "ns", Role::decode, "lora"})}).card);
    CHECK_FALSE(resolved(graph_of({}), {worker("g-a", 1, {"m", "backend", "ns-old"})}).card);
    CHECK_FALSE(resolved(graph_of({}), {worker("g-a", 1, {"m", "backend", "ns", Role::prefill})}).card);
    CHECK_FALSE(resolved(graph_of({}), {worker("g-a", 1, {"m", "backend2"})}).card);
    CHECK(resolved(graph_of({}), {worker("g-a", 1)}).card);
    CHECK(resolved(graph_of({}), {worker("g-a", 1, {"m", "prefill", "ns", Role::prefill})}, Role::prefill)
              .card);
}

TEST_CASE("worker info: an encoder is neither role's worker") {
    const std::vector<KubeWorker> encoder{worker("g-a", 1, {"m", "backend", "ns", std::nullopt})};
    CHECK_FALSE(resolved(graph_of({}), encoder, Role::decode).card);
    CHECK_FALSE(resolved(graph_of({}), encoder, Role::prefill).card);
}

TEST_CASE("worker info: objects of another graph are told apart by their names") {
    CHECK_FALSE(resolved(graph_of({}), {worker("g", 1)}).card);
    CHECK_FALSE(resolved(graph_of({}), {worker("g2-a", 1)}).card);
    CHECK_FALSE(resolved(graph_of({}), {worker("other-g-a", 1)}).card);
    GraphPool hashed = pool("D", "decode");
    hashed.component_names = {"h-123"};
    CHECK(resolved(graph_of({hashed}), {worker("h-123", 1)}).card);
    CHECK(resolved(graph_of({hashed}), {worker("h-123-x", 1)}).card);
    CHECK_FALSE(resolved(graph_of({hashed}), {worker("h-1234", 1)}).card);
}

TEST_CASE("worker info: the component that the arguments name goes before the backend's") {
    const auto graph = [](const std::string& endpoint) {
        return graph_of({pool("D", "decode", {"--endpoint", endpoint})});
    };
    const std::vector<KubeWorker> workers{worker("g-a", 1, {"default", "backend"}),
                                          worker("g-b", 2, {"own", "mine"})};
    CHECK(resolved(graph("ns.mine.generate"), workers).model_name == "own");
    CHECK(resolved(graph("dyn://ns.mine.generate"), workers).model_name == "own");
    CHECK(resolved(graph("not an endpoint"), workers).model_name == "default");
    CHECK(resolved(graph_of({}), workers).component == "backend");
    CHECK(resolved(graph("ns.mine.generate"), workers).component == "mine");
}

TEST_CASE("worker info: without a card the backend's names and the model of the arguments") {
    const WorkerInfo info = resolved(graph_of({pool("D", "decode", {"--model", "own"})}), {});
    CHECK(info.pool_name == "D");
    CHECK(info.component == "backend");
    CHECK(info.endpoint == "generate");
    CHECK(info.model_name == "own");
    CHECK_FALSE(info.card);
    // A graph serves one model: the other role's arguments count when the role has none.
    const auto both = graph_of({pool("D", "decode"), pool("P", "prefill", {"--model", "other"})});
    CHECK(resolved(both, {}).model_name == "other");
    const WorkerInfo nothing = resolved(graph_of({}), {});
    CHECK(nothing.pool_name == "VllmDecodeWorker");
    CHECK_FALSE(nothing.model_name);
}

TEST_CASE("worker info: of an unknown backend nothing is known") {
    const WorkerInfo info = resolved(graph_of({pool("D", "decode", {"--model", "m"})}), {worker("g-a", 1)},
                                     Role::decode, "other");
    CHECK_FALSE(info.pool_name);
    CHECK_FALSE(info.component);
    CHECK_FALSE(info.endpoint);
    CHECK_FALSE(info.model_name);
    CHECK_FALSE(info.card);
}

}  // namespace
}  // namespace dynaplan::wire
