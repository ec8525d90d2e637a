// The worker pools of a DynamoGraphDeployment (connectors specification 2.2, 2.3, 2.5, 2.9).
#include <doctest/doctest.h>

#include <string>

#include "wire/graph_pools.hpp"

namespace dynaplan::wire {
namespace {

WorkerGraph services(const std::string& map, const std::string& status = "{}",
                     const std::string& annotations = "{}") {
    const auto graph =
        parse_worker_graph(R"({"metadata":{"name":"g","annotations":)" + annotations +
                           R"(},"spec":{"services":)" + map + R"(},"status":{"services":)" + status + "}}");
    REQUIRE(graph.has_value());
    return *graph;
}

WorkerGraph components(const std::string& list, const std::string& status = "{}",
                       const std::string& annotations = "{}") {
    const auto graph = parse_worker_graph(R"({"metadata":{"name":"g","annotations":)" + annotations +
                                          R"(},"spec":{"components":)" + list +
                                          R"(},"status":{"components":)" + status + "}}");
    REQUIRE(graph.has_value());
    return *graph;
}

std::string found(const WorkerGraph& graph, Role role, std::string_view fallback = "") {
    const GraphPool* pool = find_pool(graph, role, fallback);
    return pool == nullptr ? "none" : pool->name;
}

TEST_CASE("graph: both shapes are read, null counts as absent") {
    const WorkerGraph old = services(
        R"({"D":{"componentType":"worker","subComponentType":"decode","extraPodSpec":{"mainContainer":{"args":["--a 'b c'","d"]}}},
            "P":{"subComponentType":null}})",
        R"({"D":{"runtimeNamespace":"ns","componentKind":"Deployment","componentNames":["g-d","g-e",7]}})");
    CHECK_FALSE(old.components);
    REQUIRE(old.pools.size() == 2);
    const GraphPool& pool = old.pools[0];
    CHECK(pool.name == "D");
    CHECK(pool.kind == "worker");
    CHECK(pool.role == "decode");
    CHECK(pool.arguments == std::vector<std::string>{"--a", "b c", "d"});
    CHECK(pool.has_status);
    CHECK(pool.runtime_namespace == "ns");
    CHECK(pool.component_kind == "Deployment");
    CHECK(pool.component_names == std::vector<std::string>{"g-d", "g-e"});
    CHECK(old.pools[1].role.empty());
    CHECK_FALSE(old.pools[1].has_status);

    const WorkerGraph now = components(
        R"([{"name":"p","type":"prefill","podTemplate":{"spec":{"containers":[{"name":"sidecar","args":"no"},{"name":"main","args":"--x y"}]}}},
            {"type":"decode"},7,{"name":"q"}])");
    CHECK(now.components);
    REQUIRE(now.pools.size() == 2);
    CHECK(now.pools[0].role == "prefill");
    CHECK(now.pools[0].arguments == std::vector<std::string>{"--x", "y"});
    CHECK(now.pools[1].name == "q");
}

TEST_CASE("graph: arguments with an open quote are none, not half of them") {
    const WorkerGraph graph =
        services(R"({"D":{"extraPodSpec":{"mainContainer":{"args":["--model m","'open"]}}}})");
    CHECK(graph.pools[0].arguments.empty());
}

TEST_CASE("graph: without a name, or not an object, it is refused") {
    for (const char* text : {"", "[]", "{}", R"({"metadata":{"name":null}})", R"({"metadata":[]})"}) {
        CHECK_FALSE(parse_worker_graph(text).has_value());
    }
    const auto bare = parse_worker_graph(R"({"metadata":{"name":"g"},"spec":{"services":[1]}})");
    REQUIRE(bare.has_value());
    CHECK(bare->pools.empty());
}

TEST_CASE("graph: a zero byte in a pool's name does not lend it another pool's status") {
    const WorkerGraph graph = services(R"({"D":{},"D\u0000x":{}})", R"({"D":{"runtimeNamespace":"ns"}})");
    REQUIRE(graph.pools.size() == 2);
    CHECK(graph.pools[0].has_status);
    CHECK_FALSE(graph.pools[1].has_status);
}

TEST_CASE("pool of a role: the only one that says so, whatever its name") {
    CHECK(found(services(R"({"A":{"subComponentType":"decode"},"B":{}})"), Role::decode, "B") == "A");
    CHECK(found(components(R"([{"name":"a","type":"decode"},{"name":"b"}])"), Role::decode, "b") == "a");
}

TEST_CASE("pool of a role: of two that say so neither is it, and a name does not help") {
    CHECK(found(services(R"({"A":{"subComponentType":"decode"},"B":{"subComponentType":"decode"}})"),
                Role::decode, "A") == "none");
}

TEST_CASE("pool of a role: else the one of the name, unless it has another role") {
    const WorkerGraph old =
        services(R"({"A":{},"B":{"subComponentType":"prefill"},"C":{"componentType":"worker"}})");
    CHECK(found(old, Role::decode, "A") == "A");
    CHECK(found(old, Role::decode, "B") == "none");
    CHECK(found(old, Role::decode, "C") == "C");
    CHECK(found(old, Role::decode, "X") == "none");
    CHECK(found(old, Role::decode) == "none");
}

TEST_CASE("pool of a role: in v1beta1 the only worker is the decode pool, and may be named for prefill") {
    const WorkerGraph one = components(R"([{"name":"a","type":"worker"},{"name":"b","type":"frontend"}])");
    CHECK(found(one, Role::decode) == "a");
    CHECK(found(one, Role::prefill) == "none");
    CHECK(found(one, Role::prefill, "a") == "a");
    CHECK(found(one, Role::prefill, "b") == "none");
    const WorkerGraph two = components(R"([{"name":"a","type":"worker"},{"name":"b","type":"worker"}])");
    CHECK(found(two, Role::decode) == "none");
    CHECK(found(two, Role::decode, "b") == "b");
}

TEST_CASE("worker namespace: what the first worker pool's status says") {
    CHECK(worker_namespace(components(R"([{"name":"f","type":"frontend"},{"name":"w","type":"worker"}])",
                                      R"({"f":{"runtimeNamespace":"no"},"w":{"runtimeNamespace":"ns-1"}})"),
                           "ns") == "ns-1");
    // An untyped pool with such a name is one of workers too.
    CHECK(worker_namespace(services(R"({"decode":{}})", R"({"decode":{"runtimeNamespace":"ns-2"}})"), "ns") ==
          "ns-2");
}

TEST_CASE("worker namespace: without a generation the deployment's own") {
    CHECK(worker_namespace(services("{}"), "ns") == "ns");
    CHECK(worker_namespace(components(R"([{"name":"w","type":"worker"}])", R"({"w":{}})"), "ns") == "ns");
}

TEST_CASE(
    "worker namespace: with a generation it depends on the kind of objects, and is unknown without a "
    "status") {
    const std::string annotations =
        R"({"nvidia.com/current-worker-hash":"h1","nvidia.com/current-worker-hash-v2":"h2"})";
    const std::string worker = R"([{"name":"w","type":"worker"}])";
    const auto of_kind = [&](const std::string& kind) {
        return worker_namespace(components(worker, R"({"w":{"componentKind":")" + kind + "\"}}", annotations),
                                "ns");
    };
    CHECK(of_kind("Deployment") == "ns-h1");
    CHECK(of_kind("LeaderWorkerSet") == "ns-h1");
    CHECK(of_kind("PodClique") == "ns");
    CHECK(of_kind("") == "ns");
    CHECK_FALSE(worker_namespace(components(worker, "{}", annotations), "ns"));
    CHECK(worker_namespace(components(worker, R"({"w":{"componentKind":"Deployment"}})",
                                      R"({"nvidia.com/current-worker-hash-v2":"h2"})"),
                           "ns") == "ns-h2");
}

}  // namespace
}  // namespace dynaplan::wire
