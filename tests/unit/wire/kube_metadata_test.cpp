// What workers register on Kubernetes (event-plane specification 7.8, connectors specification 5.2).
#include <doctest/doctest.h>

#include <string>

#include "wire/kube_metadata.hpp"

namespace dynaplan::wire {
namespace {

const std::string model =
    R"({"type":"Model","instance_id":9007199254740993,"card_json":{"display_name":"m"}})";
const std::string endpoint =
    R"({"type":"Endpoint","namespace":"n","component":"c","endpoint":"e","instance_id":2})";
const std::string channel =
    R"({"type":"EventChannel","scope":{"kind":"namespace","name":"n"},"namespace":"other","component":"",
        "topic":"t","instance_id":3,"transport":{"kind":"Zmq","config":{"endpoint":"tcp://a:1"}}})";

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out + '"';
}

KubeRecords records_of(const std::string& data) {
    const auto records = parse_kube_records(data);
    REQUIRE(records.has_value());
    return *records;
}

TEST_CASE("Kubernetes records: three maps of records, whatever their keys are") {
    const std::string data = R"({"endpoints":{"k":)" + endpoint + R"(},"model_cards":{"n/c/e/1":)" + model +
                             R"(,"":)" + model + R"(},"event_channels":{"k":)" + channel +
                             R"(},"event_sources":{"k":{"type":"EventSource"}}})";
    const KubeRecords records = records_of(data);
    REQUIRE(records.endpoints.size() == 1);
    CHECK(records.endpoints[0].instance_id == 2);
    REQUIRE(records.model_cards.size() == 2);
    // The record's id counts here, not the key's.
    CHECK(records.model_cards[1].instance_id == 9'007'199'254'740'993ULL);
    REQUIRE(records.event_channels.size() == 1);
    CHECK(records.event_channels[0].scope == EventScope{"n", {}, {}});
    CHECK(records.skipped == 0);
    SUBCASE("the same as a text that holds the object") {
        const KubeRecords again = records_of(quoted(data));
        CHECK(again.model_cards.size() == 2);
        CHECK(again.event_channels.size() == 1);
    }
}

TEST_CASE("Kubernetes records: a map may be missing or null, meaning empty") {
    for (const char* data : {"{}", R"({"endpoints":null,"model_cards":null,"event_channels":null})",
                             R"({"endpoints":{},"model_cards":{},"event_channels":{}})"}) {
        const KubeRecords records = records_of(data);
        CHECK(records.endpoints.empty());
        CHECK(records.model_cards.empty());
        CHECK(records.event_channels.empty());
        CHECK(records.skipped == 0);
    }
}

TEST_CASE("Kubernetes records: what cannot be read is counted and does not hide the others") {
    const KubeRecords records =
        records_of(R"({"endpoints":[1,2],"model_cards":{"a":null,"b":)" + endpoint + R"(,"c":)" + model +
                   R"(,"d":{"type":"Model"}},"event_channels":7})");
    CHECK(records.model_cards.size() == 1);
    CHECK(records.endpoints.empty());  // an endpoint in the wrong map is none
    CHECK(records.skipped == 5);       // a, b, d and two whole maps
}

TEST_CASE("Kubernetes records: data that is no object, nor a text that holds one, is refused") {
    for (const std::string& data :
         {std::string{}, std::string{"[]"}, std::string{"7"}, std::string{"null"},
          std::string{R"("not JSON")"}, std::string{R"("[]")"}, std::string{R"("7")"}, quoted(quoted("{}")),
          std::string{"{}\0x", 4}, std::string{R"("{}\u0000x")"}}) {
        CAPTURE(data);
        const auto records = parse_kube_records(data);
        REQUIRE_FALSE(records.has_value());
        CHECK(records.error().message.starts_with("spec.data: "));
    }
}

TEST_CASE("Kubernetes worker: the object's name and its records") {
    const auto worker = parse_kube_worker(
        R"({"metadata":{"name":"pod-0"},"spec":{"data":{"model_cards":{"k":)" + model + "}}}}");
    REQUIRE(worker.has_value());
    CHECK(worker->name == "pod-0");
    CHECK(worker->records.model_cards.size() == 1);
    for (const char* without :
         {R"({"metadata":{"name":"pod-0"}})", R"({"metadata":{"name":"pod-0"},"spec":null})",
          R"({"metadata":{"name":"pod-0"},"spec":{"data":null}})"}) {
        const auto empty = parse_kube_worker(without);
        REQUIRE(empty.has_value());
        CHECK(empty->records.model_cards.empty());
    }
}

TEST_CASE("Kubernetes worker: without a name, or with broken data, it is refused in one line") {
    for (const char* object : {"", "[]", "{}", R"({"metadata":{}})", R"({"metadata":{"name":7}})"}) {
        CHECK_FALSE(parse_kube_worker(object).has_value());
    }
    const auto broken = parse_kube_worker(R"({"metadata":{"name":"pod\n0"},"spec":{"data":[]}})");
    REQUIRE_FALSE(broken.has_value());
    CHECK(broken.error().message ==
          "DynamoWorkerMetadata 'pod?0': spec.data: not an object, nor a text that holds one");
}

}  // namespace
}  // namespace dynaplan::wire
