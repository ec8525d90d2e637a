// Discovery keys of both eras, and the file store's names (event-plane specification 7.1, 7.6).
#include <doctest/doctest.h>

#include <string>

#include "wire/discovery_key.hpp"

namespace dynaplan::wire {
namespace {

constexpr std::uint64_t id = 0x694d99ddfad02705;

DiscoveryKey parsed(const std::string& text) {
    const auto key = parse_discovery_key(text);
    REQUIRE(key);
    return *key;
}

TEST_CASE("discovery key: instances and model cards have three raw names and an id") {
    CHECK(parsed("v1/instances/dynamo/backend/generate/694d99ddfad02705") ==
          DiscoveryKey{Bucket::instances, {"dynamo", "backend", "generate"}, "", id, {}});
    CHECK(parsed("v1/mdc/dynamo/backend/generate/694d99ddfad02705") ==
          DiscoveryKey{Bucket::model_cards, {"dynamo", "backend", "generate"}, "", id, {}});
    // Names are raw in these buckets: nothing is decoded.
    CHECK(parsed("v1/mdc/ns%2Eone/b.c/g/1").scope == EventScope{"ns%2Eone", "b.c", "g"});
}

TEST_CASE("discovery key: a fifth part names the adapter of a card, and nothing else has one") {
    CHECK(parsed("v1/mdc/dynamo/backend/generate/2a/my-lora").suffix == "my-lora");
    CHECK_FALSE(parsed("v1/mdc/dynamo/backend/generate/2a").suffix);
    CHECK_FALSE(parse_discovery_key("v1/instances/dynamo/backend/generate/2a/my-lora"));
}

TEST_CASE("discovery key: four parts below event channels are April's") {
    CHECK(parsed("v1/event_channels/dynamo/backend/forward-pass-metrics/2a") ==
          DiscoveryKey{Bucket::event_channels, {"dynamo", "backend", {}}, "forward-pass-metrics", 42, {}});
    CHECK(parsed("v1/event_channels/dynamo//t/2a").scope == EventScope{"dynamo", {}, {}});
}

TEST_CASE("discovery key: five, seven and nine parts are August's, with encoded names") {
    CHECK(parsed("v1/event_channels/namespace/ns%2Eone/topic/a%20topic/2a") ==
          DiscoveryKey{Bucket::event_channels, {"ns.one", {}, {}}, "a topic", 42, {}});
    CHECK(parsed("v1/event_channels/namespace/n/component/a%2F%2A/topic/t/2a").scope ==
          EventScope{"n", "a/*", {}});
    CHECK(parsed("v1/event_channels/namespace/n/component/c/endpoint/e%25/topic/t/2a").scope ==
          EventScope{"n", "c", "e%"});
    CHECK(parsed("v1/event_sources/namespace/n/topic/t/2a").bucket == Bucket::event_sources);
}

TEST_CASE("discovery key: an August key needs its words in their places") {
    for (const char* key :
         {"namespaces/n/topic/t/2a", "namespace/n/topics/t/2a", "n/namespace/topic/t/2a",
          "namespace/n/endpoint/e/topic/t/2a", "namespace/n/component/c/topics/t/2a",
          "namespace/n/endpoint/e/component/c/topic/t/2a", "namespace/n/component/c/endpoint/e/t/topic/2a"}) {
        CAPTURE(key);
        CHECK_FALSE(parse_key_in_bucket(Bucket::event_channels, key));
    }
}

TEST_CASE("discovery key: a broken escape in any encoded name is a bad key") {
    for (const char* key :
         {"namespace/%/topic/t/2a", "namespace/n/topic/%4/2a", "namespace/n/component/%zz/topic/t/2a",
          "namespace/n/component/c/endpoint/a%2/topic/t/2a"}) {
        CAPTURE(key);
        CHECK_FALSE(parse_key_in_bucket(Bucket::event_channels, key));
    }
}

TEST_CASE("discovery key: any other number of parts is a bad key") {
    std::string card = "1";
    std::string channel = "1";
    for (int parts = 1; parts <= 12; ++parts, card.insert(0, "n/"), channel.insert(0, "namespace/")) {
        CAPTURE(parts);
        CHECK(parse_key_in_bucket(Bucket::instances, card).has_value() == (parts == 4));
        CHECK(parse_key_in_bucket(Bucket::model_cards, card).has_value() == (parts == 4));
        CHECK(parse_key_in_bucket(Bucket::event_channels, channel).has_value() == (parts == 4));
        CHECK_FALSE(parse_key_in_bucket(Bucket::event_sources, channel));
    }
    // Longer than any key, and the words would fit.
    CHECK_FALSE(
        parse_key_in_bucket(Bucket::event_channels, "namespace/n/component/c/endpoint/e/pod/p/topic/t/2a"));
    CHECK_FALSE(parse_key_in_bucket(Bucket::model_cards, std::string(1'000'000, '/')));
}

TEST_CASE("discovery key: the id is 1 to 16 hex digits of either case") {
    CHECK(parsed("v1/mdc/n/c/e/FFffFFffFFffFFff").id == ~0ULL);
    for (const char* bad : {"", "g", "0x1", "00000000000000001", "-1", " 1", "1 "}) {
        CAPTURE(bad);
        const std::string end = bad;
        CHECK_FALSE(parse_discovery_key("v1/instances/n/c/e/" + end));
        CHECK_FALSE(parse_discovery_key("v1/mdc/n/c/e/" + end));
        CHECK_FALSE(parse_discovery_key("v1/mdc/n/c/e/" + end + "/suffix"));
        CHECK_FALSE(parse_discovery_key("v1/event_channels/n/c/t/" + end));
        CHECK_FALSE(parse_discovery_key("v1/event_channels/namespace/n/topic/t/" + end));
    }
}

TEST_CASE("discovery key: other buckets, other prefixes and a leading slash are no keys of ours") {
    for (const char* key : {"", "v1/mdc", "v1/mdc/", "/v1/mdc/n/c/e/1", "v1/mdcs/n/c/e/1", "v2/mdc/n/c/e/1",
                            "v1/mdc//n/c/e/1/x", "V1/mdc/n/c/e/1", "dynamo/v1/mdc/n/c/e/1"}) {
        CAPTURE(key);
        CHECK_FALSE(parse_discovery_key(key));
    }
}

TEST_CASE("discovery key: what is written is read again, in the layout of its era") {
    const std::string names = "a.b/\xc3\xa4 %";
    const DiscoveryKey keys[] = {{Bucket::instances, {"n", "c", "e"}, "", ~0ULL, {}},
                                 {Bucket::model_cards, {"n", "c", "e"}, "", id, {}},
                                 {Bucket::model_cards, {"n", "c", "e"}, "", id, "adapter"},
                                 {Bucket::event_channels, {"n", {}, {}}, "t", id, {}},
                                 {Bucket::event_channels, {"n", "c", {}}, "t", id, {}},
                                 {Bucket::event_channels, {"n", "c", "e"}, "t", id, {}},
                                 {Bucket::event_channels, {names, names, names}, names, 0, {}},
                                 {Bucket::event_sources, {"n", "c", "e"}, "t", id, {}}};
    for (const DiscoveryKey& key : keys) {
        const std::string text = text_of(key, Era::august);
        CAPTURE(text);
        CHECK(parse_discovery_key(text) == key);
    }
    CHECK(text_of(keys[2], Era::april) == "v1/mdc/n/c/e/694d99ddfad02705/adapter");
    CHECK(text_of(keys[3], Era::april) == "v1/event_channels/n//t/694d99ddfad02705");
    CHECK(text_of(keys[4], Era::april) == "v1/event_channels/n/c/t/694d99ddfad02705");
    CHECK(parse_discovery_key(text_of(keys[3], Era::april)) == keys[3]);
    CHECK(parse_discovery_key(text_of(keys[4], Era::april)) == keys[4]);
    CHECK(text_of(keys[6], Era::august) ==
          "v1/event_channels/namespace/a%2Eb%2F%C3%A4%20%25/component/a%2Eb%2F%C3%A4%20%25/"
          "endpoint/a%2Eb%2F%C3%A4%20%25/topic/a%2Eb%2F%C3%A4%20%25/0");
}

TEST_CASE("prefix: a key is under a prefix as a path, not as a text") {
    CHECK(is_under("v1/mdc/dynamo/backend/generate/1", "v1/mdc/dynamo/backend"));
    CHECK(is_under("v1/mdc/dynamo/backend/generate/1", "v1/mdc/dynamo/backend/"));
    CHECK(is_under("v1/mdc/dynamo/backend", "v1/mdc/dynamo/backend"));
    CHECK(is_under("v1/mdc", ""));
    CHECK_FALSE(is_under("v1/mdc/dynamo/backend2/generate/1", "v1/mdc/dynamo/backend"));
    CHECK_FALSE(is_under("v1/mdc/dynamo/back", "v1/mdc/dynamo/backend"));
    CHECK_FALSE(is_under("", "v1"));
}

TEST_CASE("file store: a key is one file name with everything but letters and digits escaped") {
    CHECK(file_name_of("dynamo/backend/generate/2a") == "dynamo%2Fbackend%2Fgenerate%2F2a");
    CHECK(file_name_of("a-b_c.d") == "a%2Db%5Fc%2Ed");
    // The percent sign of an August key is escaped once more.
    CHECK(file_name_of("namespace/ns%2Eone") == "namespace%2Fns%252Eone");
    for (const std::string& key :
         {std::string{"namespace/ns%2Eone/topic/t/1"}, std::string{"a\0b", 3}, std::string{"\xff"}}) {
        CHECK(key_of_file_name(file_name_of(key)) == key);
    }
}

TEST_CASE("file store: unfinished writes and names that the store does not write are no keys") {
    for (const char* name : {"", ".", "..", ".tmp_0123456789abcdef", "a.b", "a/b", "a-b", "a_b", "a b", "%",
                             "%2", "a%2", "%g0"}) {
        CAPTURE(name);
        CHECK_FALSE(key_of_file_name(name));
    }
    // Other spellings of the same key would be the same record a second time.
    CHECK(key_of_file_name("a%2Fb") == "a/b");
    CHECK_FALSE(key_of_file_name("a%2fb"));
    CHECK_FALSE(key_of_file_name("%61%2Fb"));
}

}  // namespace
}  // namespace dynaplan::wire
