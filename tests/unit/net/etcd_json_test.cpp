// The texts of etcd's JSON gateway, as etcd 3.4 writes them.
#include "net/etcd_json.hpp"

#include <doctest/doctest.h>

using namespace dynaplan;
using namespace dynaplan::net;
using namespace std::chrono_literals;

TEST_CASE("etcd json: a prefix ends at the next key that does not begin so") {
    CHECK(etcd_prefix("v1/a/") == EtcdSpan{"v1/a/", "v1/a0"});
    CHECK(etcd_prefix("a\xff\xff") == EtcdSpan{"a\xff\xff", "b"});
    CHECK(etcd_prefix("\xff") == EtcdSpan{"\xff", std::string(1, '\0')});
    CHECK(etcd_prefix("") == EtcdSpan{std::string(1, '\0'), std::string(1, '\0')});
}

TEST_CASE("etcd json: keys and values are base64, numbers are texts, an absent end is left out") {
    CHECK(etcd_range_request({"a", ""}) == R"({"key":"YQ=="})");
    CHECK(etcd_range_request({"ab", "ac"}) == R"({"key":"YWI=","range_end":"YWM="})");
    CHECK(etcd_probe_request() == R"({"key":"AA==","count_only":true})");
    CHECK(etcd_grant_request(10s) == R"({"TTL":"10"})");
    CHECK(etcd_lease_request(7) == R"({"ID":"7"})");
    CHECK(etcd_lease_time_request(7) == R"({"ID":"7","keys":true})");
    CHECK(etcd_watch_request({"a", ""}, 6) == R"({"create_request":{"key":"YQ==","start_revision":"6"}})");
    CHECK(etcd_authenticate_request("ro\"ot", "x") == R"({"name":"ro\"ot","password":"x"})");
}

TEST_CASE("etcd json: a transaction has its comparisons and both branches") {
    EtcdTransaction t;
    t.compare = {{.key = "a", .field = EtcdField::mod_revision, .number = 4},
                 {.key = "b", .field = EtcdField::value, .text = "v", .relation = EtcdRelation::not_equal}};
    t.success = {EtcdPut{"a", "x", 9}, EtcdPut{"b", "", 0}, EtcdDelete{{"c", "d"}}};
    t.failure = {EtcdRead{{"a", ""}}};
    CHECK(etcd_transaction_request(t) ==
          R"({"compare":[{"key":"YQ==","target":"MOD","result":"EQUAL","mod_revision":"4"},)"
          R"({"key":"Yg==","target":"VALUE","result":"NOT_EQUAL","value":"dg=="}],)"
          R"("success":[{"request_put":{"key":"YQ==","value":"eA==","lease":"9"}},)"
          R"({"request_put":{"key":"Yg==","value":""}},)"
          R"({"request_delete_range":{"key":"Yw==","range_end":"ZA=="}}],)"
          R"("failure":[{"request_range":{"key":"YQ=="}}]})");
    CHECK(etcd_transaction_request({}) == "{}");
}

TEST_CASE("etcd json: a listing has its revision, and what is missing is zero") {
    const auto listing = read_etcd_listing(
        R"({"header":{"cluster_id":"1","revision":"9007199254740993"},"count":"2","kvs":[)"
        R"({"key":"YQ==","value":"eHl6","create_revision":"2","mod_revision":"3","version":"4","lease":"5"},)"
        R"({"key":"YWI="}]})");
    REQUIRE(listing);
    CHECK(listing->revision == 9007199254740993);
    REQUIRE(listing->pairs.size() == 2);
    CHECK(listing->pairs[0] == EtcdPair{"a", "xyz", 2, 3, 4, 5});
    CHECK(listing->pairs[1] == EtcdPair{"ab", "", 0, 0, 0, 0});
    const auto empty = read_etcd_listing(R"({"header":{"revision":"1"}})");
    REQUIRE(empty);
    CHECK(empty->pairs.empty());
}

TEST_CASE("etcd json: what makes no sense is an error that says what") {
    for (const auto& [text, message] : {
             std::pair{"", "etcd's answer: is no JSON object"},
             std::pair{"[]", "etcd's answer: is no JSON object"},
             std::pair{R"({"header":{"revision":"x"}})", "etcd's answer: revision is no integer"},
             std::pair{R"({"kvs":3})", "etcd's answer: kvs is no array"},
             std::pair{R"({"kvs":[{"key":"YQ="}]})", "etcd's answer: key is not base64"},
             std::pair{R"({"kvs":[{"key":"Y!=="}]})", "etcd's answer: key is not base64"},
             std::pair{R"({"kvs":[{"key":7}]})", "etcd's answer: key is no text"},
         }) {
        const auto listing = read_etcd_listing(text);
        REQUIRE_FALSE(listing);
        CHECK(listing.error().message == message);
    }
    CHECK_FALSE(read_etcd_transaction("{}"));
    CHECK_FALSE(read_etcd_grant(R"({"ID":"3"})"));
    CHECK_FALSE(read_etcd_token("{}"));
}

TEST_CASE("etcd json: the listings of a transaction stand for its reads, in their order") {
    const auto answer = read_etcd_transaction(
        R"({"header":{"revision":"7"},"succeeded":true,"responses":[{"response_put":{"header":{"revision":"7"}}},)"
        R"({"response_range":{"header":{"revision":"7"},"kvs":[{"key":"YQ==","value":"eA=="}],"count":"1"}},)"
        R"({"response_delete_range":{"header":{"revision":"7"}}},{"response_range":{}}]})");
    REQUIRE(answer);
    CHECK(answer->succeeded);
    CHECK(answer->revision == 7);
    REQUIRE(answer->listings.size() == 2);
    CHECK(answer->listings[0].pairs.at(0).value == "x");
    CHECK(answer->listings[1].revision == 7);
    const auto refused = read_etcd_transaction(R"({"header":{"revision":"7"}})");
    REQUIRE(refused);
    CHECK_FALSE(refused->succeeded);
}

TEST_CASE("etcd json: a keep-alive without a time says that the lease is gone") {
    const auto kept = read_etcd_keep_alive(R"({"result":{"header":{"revision":"3"},"ID":"12","TTL":"10"}})");
    REQUIRE(kept);
    CHECK(*kept == 10s);
    const auto gone = read_etcd_keep_alive(R"({"result":{"header":{"revision":"3"},"ID":"12"}})");
    REQUIRE(gone);
    CHECK_FALSE(*gone);
    CHECK_FALSE(read_etcd_keep_alive(R"({"error":{"grpc_code":14,"message":"stopped"}})"));
    const auto left = read_etcd_lease_time(R"({"ID":"12","TTL":"4","grantedTTL":"5","keys":["YQ=="]})");
    REQUIRE(left);
    CHECK(left->left == 4s);
    CHECK(left->keys == std::vector<std::string>{"a"});
    const auto none = read_etcd_lease_time(R"({"ID":"12","TTL":"-1"})");
    REQUIRE(none);
    CHECK_FALSE(none->left);
}

TEST_CASE("etcd json: a watch's line tells events, a cancellation, or its end") {
    const auto events = read_etcd_watch_line(
        R"({"result":{"header":{"revision":"3"},"events":[{"kv":{"key":"YQ==","mod_revision":"2","value":"eA=="}},)"
        R"({"type":"DELETE","kv":{"key":"YQ==","mod_revision":"3"}}]}})");
    REQUIRE(events);
    REQUIRE(events->events.size() == 2);
    CHECK(events->events[0] == EtcdEvent{false, {"a", "x", 0, 2, 0, 0}});
    CHECK(events->events[1] == EtcdEvent{true, {"a", "", 0, 3, 0, 0}});
    const auto canceled =
        read_etcd_watch_line(R"({"result":{"header":{},"canceled":true,"compact_revision":"3"}})");
    REQUIRE(canceled);
    CHECK(canceled->canceled);
    CHECK(canceled->compact_revision == 3);
    const auto ended = read_etcd_watch_line(
        R"({"error":{"grpc_code":14,"http_code":503,"message":"etcdserver: server stopped"}})");
    REQUIRE_FALSE(ended);
    CHECK(ended.error().message == "etcd ended the watch: etcdserver: server stopped");
}

TEST_CASE("etcd json: a refusal tells whether something may have been carried out") {
    const auto not_found =
        etcd_refusal(404, R"({"error":"x","message":"etcdserver: requested lease not found","code":5})");
    CHECK(not_found.fault == EtcdFault::refused);
    CHECK(not_found.code == 5);
    CHECK(not_found.message == "etcdserver: requested lease not found");
    CHECK(etcd_refusal(503, R"({"message":"etcdserver: request timed out","code":14})").fault ==
          EtcdFault::lost);
    CHECK(etcd_refusal(503, R"({"message":"database space exceeded","code":8})").fault == EtcdFault::refused);
    CHECK(etcd_refusal(408, R"({"message":"context canceled","code":1})").fault == EtcdFault::lost);
    CHECK(etcd_refusal(500, "").fault == EtcdFault::lost);
    CHECK(etcd_refusal(500, "").message == "HTTP status 500");
    CHECK(etcd_wants_token(etcd_refusal(401, R"({"message":"etcdserver: invalid auth token","code":16})")));
    CHECK(etcd_wants_token(etcd_refusal(400, R"({"message":"etcdserver: user name is empty","code":3})")));
    CHECK_FALSE(etcd_wants_token(not_found));
}
