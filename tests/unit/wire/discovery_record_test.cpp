// Values under discovery keys, of both eras (event-plane specification 7.2, 7.3).
#include <doctest/doctest.h>

#include <string>
#include <variant>

#include "wire/discovery_record.hpp"
#include "wire/envelope.hpp"

namespace dynaplan::wire {
namespace {

template <class Record>
Record read(const std::string& text) {
    const auto record = parse_discovery_record(text);
    REQUIRE(record);
    REQUIRE(std::holds_alternative<Record>(*record));
    return std::get<Record>(*record);
}

std::string channel(const std::string& scope, const std::string& transport, const std::string& topic = "t",
                    const std::string& id = "42") {
    return R"({"type":"EventChannel",)" + scope + R"(,"topic":")" + topic + R"(","instance_id":)" + id +
           R"(,"transport":)" + transport + '}';
}

const std::string april_scope = R"("namespace":"n","component":"c")";
const std::string zmq = R"({"kind":"Zmq","config":{"endpoint":"tcp://10.0.0.7:1"}})";
const std::string broker =
    R"({"kind":"ZmqBroker","config":{"xsub_endpoints":["tcp://a:1"],"xpub_endpoints":["tcp://a:2","tcp://b:2"]}})";

TEST_CASE("record: a model card with its names, id and suffix") {
    const auto model = read<ModelRecord>(
        R"({"type":"Model","namespace":"n","component":"c","endpoint":"e","instance_id":7587890125863921413,
            "card_json":{"display_name":"m"},"model_suffix":"my-lora","later":[1]})");
    CHECK(model.name_space == "n");
    CHECK(model.component == "c");
    CHECK(model.endpoint == "e");
    CHECK(model.instance_id == 7'587'890'125'863'921'413ULL);
    CHECK(model.model_suffix == "my-lora");
    CHECK(model.card.model_name == "m");
}

TEST_CASE("record: of a card only the id is required, and an empty or null suffix is none") {
    const auto bare = read<ModelRecord>(R"({"type":"Model","instance_id":7})");
    CHECK_FALSE(bare.name_space);
    CHECK_FALSE(bare.model_suffix);
    CHECK(bare.card == ModelCard{});
    CHECK_FALSE(read<ModelRecord>(R"({"type":"Model","instance_id":7,"model_suffix":""})").model_suffix);
    CHECK_FALSE(read<ModelRecord>(R"({"type":"Model","instance_id":7,"model_suffix":null})").model_suffix);
    CHECK(read<ModelRecord>(R"({"type":"Model","instance_id":7,"card_json":null})").card == ModelCard{});
}

TEST_CASE("record: ids are JSON integers of 64 bits, never floats, texts or negative") {
    for (const auto& [text, id] : {std::pair{"9007199254740993", 9'007'199'254'740'993ULL},
                                   {"18446744073709551615", ~0ULL},
                                   {"0", 0ULL}}) {
        const std::string value = R"({"type":"Model","instance_id":)" + std::string{text} + '}';
        CHECK(read<ModelRecord>(value).instance_id == id);
        CHECK(read<ChannelRecord>(channel(april_scope, zmq, "t", text)).instance_id == id);
    }
    for (const char* text : {"-1", "7.0", "7e0", "\"7\"", "null", "[7]", "18446744073709551616", "true"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_discovery_record(R"({"type":"Model","instance_id":)" + std::string{text} + '}'));
        CHECK_FALSE(parse_discovery_record(channel(april_scope, zmq, "t", text)));
    }
}

TEST_CASE("record: an endpoint needs its three names and its id, its transport is not looked at") {
    const std::string rest = R"(,"transport":{"http":5},"device_type":"cuda","request_plane_codec":"x"})";
    const auto endpoint = read<EndpointRecord>(
        R"({"type":"Endpoint","namespace":"n","component":"c","endpoint":"e","instance_id":255)" + rest);
    CHECK(endpoint.name_space == "n");
    CHECK(endpoint.component == "c");
    CHECK(endpoint.endpoint == "e");
    CHECK(endpoint.instance_id == 255);
    for (const char* some : {R"("component":"c","endpoint":"e","instance_id":255)",
                             R"("namespace":"n","endpoint":"e","instance_id":255)",
                             R"("namespace":"n","component":"c","instance_id":255)",
                             R"("namespace":"n","component":"c","endpoint":"e")",
                             R"("namespace":null,"component":"c","endpoint":"e","instance_id":255)"}) {
        CHECK_FALSE(parse_discovery_record(R"({"type":"Endpoint",)" + std::string{some} + rest));
    }
}

TEST_CASE("record: April's channels are flat, an empty or missing component is the namespace's scope") {
    CHECK(read<ChannelRecord>(channel(april_scope, zmq)).scope == EventScope{"n", "c", {}});
    CHECK(read<ChannelRecord>(channel(R"("namespace":"n","component":"")", zmq)).scope ==
          EventScope{"n", {}, {}});
    CHECK(read<ChannelRecord>(channel(R"("namespace":"n")", zmq)).scope == EventScope{"n", {}, {}});
}

TEST_CASE("record: August's channels have a scope of one of three kinds") {
    const auto scope = [](const std::string& object) {
        return read<ChannelRecord>(channel(R"("scope":)" + object, zmq)).scope;
    };
    CHECK(scope(R"({"kind":"namespace","name":"ns.one"})") == EventScope{"ns.one", {}, {}});
    CHECK(scope(R"({"kind":"component","namespace":"n","component":"c"})") == EventScope{"n", "c", {}});
    CHECK(scope(R"({"kind":"endpoint","endpoint":{"namespace":"n","component":"c","name":"e"}})") ==
          EventScope{"n", "c", "e"});
    for (const char* bad : {R"({"kind":"namespace"})", R"({"kind":"component","namespace":"n"})",
                            R"({"kind":"endpoint","endpoint":{"namespace":"n","component":"c"}})",
                            R"({"kind":"cluster","name":"n"})", R"({"name":"n"})", R"("namespace")"}) {
        CAPTURE(bad);
        CHECK_FALSE(parse_discovery_record(channel(R"("scope":)" + std::string{bad}, zmq)));
    }
}

TEST_CASE("record: where both forms stand the scope counts, and a null scope is none") {
    const std::string both = R"("scope":{"kind":"component","namespace":"a","component":"b"},)" + april_scope;
    CHECK(read<ChannelRecord>(channel(both, zmq)).scope == EventScope{"a", "b", {}});
    CHECK(read<ChannelRecord>(channel(R"("scope":null,)" + april_scope, zmq)).scope ==
          EventScope{"n", "c", {}});
    CHECK_FALSE(parse_discovery_record(channel(R"("scope":{"kind":"odd"},)" + april_scope, zmq)));
}

TEST_CASE("record: the three transports of a channel, and what to do about each") {
    const auto direct = read<ChannelRecord>(channel(april_scope, zmq, std::string{fpm_topic}));
    CHECK(direct.transport.kind == ChannelTransport::Kind::zmq);
    CHECK(direct.transport.endpoint == "tcp://10.0.0.7:1");
    CHECK(use_of(direct, fpm_topic) == ChannelUse::connect);
    CHECK(use_of(direct, "kv-events") == ChannelUse::other_topic);
    CHECK(use_of(direct, "forward-pass-metrics-2") == ChannelUse::other_topic);

    const auto nats = read<ChannelRecord>(channel(april_scope, R"({"kind":"Nats","config":{}})"));
    CHECK(use_of(nats, "t") == ChannelUse::not_zmq);

    // A broker's topic is not fixed, so it says nothing.
    const auto through = read<ChannelRecord>(channel(april_scope, broker));
    CHECK(through.transport.xsub_endpoints == std::vector<std::string>{"tcp://a:1"});
    CHECK(through.transport.xpub_endpoints == std::vector<std::string>{"tcp://a:2", "tcp://b:2"});
    CHECK(use_of(through, fpm_topic) == ChannelUse::broker);
}

TEST_CASE("record: repeats are dropped only where there is more than one way to subscribe") {
    ChannelTransport transport{ChannelTransport::Kind::zmq_broker, "", {"a", "b"}, {"c"}};
    CHECK_FALSE(transport.deduplicate());
    transport.xpub_endpoints.emplace_back("d");
    CHECK(transport.deduplicate());
}

TEST_CASE("record: a transport that says too little makes the record unreadable") {
    for (const char* bad :
         {"null", "{}", R"("Zmq")", R"({"kind":"zmq","config":{"endpoint":"x"}})", R"({"kind":"Zmq"})",
          R"({"kind":"Zmq","config":{"endpoint":null}})", R"({"kind":"Zmq","config":{"endpoint":7}})",
          R"({"kind":"ZmqBroker","config":{"xsub_endpoints":["a"]}})",
          R"({"kind":"ZmqBroker","config":{"xsub_endpoints":["a"],"xpub_endpoints":"b"}})",
          R"({"kind":"ZmqBroker","config":{"xsub_endpoints":["a"],"xpub_endpoints":["b",7]}})"}) {
        CAPTURE(bad);
        CHECK_FALSE(parse_discovery_record(channel(april_scope, bad)));
    }
}

TEST_CASE("record: what is not a tagged JSON object is skipped") {
    for (const std::string& text :
         {std::string{}, std::string{"{"}, std::string{"[]"}, std::string{"7"}, std::string{"{}"},
          std::string{R"({"type":"Other","instance_id":7})"}, std::string{R"({"type":7,"instance_id":7})"},
          std::string{R"({"type":"model","instance_id":7})"},
          std::string{"{\"type\":\"Model\",\"instance_id\":7,\"x\":\"\xff\"}"},
          std::string{R"({"type":"Model","instance_id":7} x)"},
          std::string{"{\"type\":\"Model\",\"instance_id\":7}\0", 33}, std::string{"\xff\xfe"}}) {
        CAPTURE(text);
        CHECK_FALSE(parse_discovery_record(text));
    }
}

TEST_CASE("record: a value may nest as deep as it likes") {
    const std::string open(500'000, '[');
    const std::string close(500'000, ']');
    CHECK(read<ModelRecord>(R"({"type":"Model","instance_id":7,"card_json":{"x":)" + open + close + "}}")
              .instance_id == 7);
    CHECK_FALSE(parse_discovery_record(R"({"type":"Model","x":)" + open));
    CHECK_FALSE(parse_discovery_record(open + close));
}

TEST_CASE("record: zero bytes in texts are bytes like others") {
    const auto record = read<ChannelRecord>(channel(R"("namespace":"n\u0000x")", zmq));
    CHECK(record.scope.name_space == std::string{"n\0x", 3});
    CHECK_FALSE(parse_discovery_record(R"({"type":"Model\u0000","instance_id":7})"));
}

bool agreement(const std::string& key_text, const std::string& value) {
    const auto key = parse_discovery_key(key_text);
    const auto record = parse_discovery_record(value);
    REQUIRE(key);
    REQUIRE(record);
    return agrees(*key, *record);
}

TEST_CASE("record: key and value agree when bucket, id and names do") {
    const std::string names = R"("namespace":"n","component":"c","endpoint":"e","instance_id":42)";
    const std::string model = R"({"type":"Model",)" + names + '}';
    CHECK(agreement("v1/mdc/n/c/e/2a", model));
    CHECK_FALSE(agreement("v1/mdc/n/c/e/2b", model));
    CHECK_FALSE(agreement("v1/mdc/n/c2/e/2a", model));
    CHECK_FALSE(agreement("v1/mdc/n/c/e/2a/suffix", model));
    CHECK_FALSE(agreement("v1/instances/n/c/e/2a", model));
    CHECK(agreement("v1/mdc/n/c/e/2a/s", R"({"type":"Model","model_suffix":"s",)" + names + '}'));
    CHECK_FALSE(agreement("v1/mdc/n/c/e/2a/s", R"({"type":"Model","model_suffix":"s2",)" + names + '}'));
    const std::string endpoint = R"({"type":"Endpoint",)" + names + '}';
    CHECK(agreement("v1/instances/n/c/e/2a", endpoint));
    CHECK_FALSE(agreement("v1/mdc/n/c/e/2a", endpoint));
    CHECK(agreement("v1/event_channels/n/c/t/2A", channel(april_scope, zmq)));
    CHECK_FALSE(agreement("v1/event_channels/n/c/t2/2a", channel(april_scope, zmq)));
    CHECK_FALSE(agreement("v1/event_channels/n//t/2a", channel(april_scope, zmq)));
    CHECK(agreement("v1/event_channels/namespace/a%2Eb/topic/t/2a",
                    channel(R"("scope":{"kind":"namespace","name":"a.b"})", zmq)));
    CHECK_FALSE(agreement("v1/event_sources/namespace/a%2Eb/topic/t/2a",
                          channel(R"("scope":{"kind":"namespace","name":"a.b"})", zmq)));
}

}  // namespace
}  // namespace dynaplan::wire
