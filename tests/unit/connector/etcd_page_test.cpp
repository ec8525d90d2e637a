// proto/decisions-etcd.md names the keys that are used, and its sample is what the store writes.
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include "connector/etcd_keys.hpp"
#include "connector/etcd_picture.hpp"

namespace dynaplan::connector {

namespace {

std::string page() {
    std::ifstream file{std::string{DYNAPLAN_PROTO_DIR} + "/decisions-etcd.md"};
    REQUIRE(file.good());
    return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

TEST_CASE("decisions in etcd: the page names every key") {
    const EtcdKeys keys{"{namespace}"};
    for (const std::string& key :
         {keys.prefill, keys.decode, keys.current, keys.acknowledged, keys.records + "{id}", keys.leader})
        CHECK_MESSAGE(page().find("| `" + key + "` |") != std::string::npos, key);
    CHECK(keys.record(7) == "v1/{namespace}/dynaplan/decisions/0000000000000000007");
    CHECK(keys.record(9223372036854775806) == "v1/{namespace}/dynaplan/decisions/9223372036854775806");
}

TEST_CASE("decisions in etcd: the page's record is what is written and read") {
    port::DecisionRecord record;
    record.proposal = 3;
    record.prefill = Replicas{2};
    record.decode = Replicas{5};
    record.reason = Reason::scale_up;
    record.published_wall_ms = 1776800000123;
    record.why_json = R"({"estimated_itl_ms":61.2})";
    const std::string value = etcd_record_value(record, 8192);
    CHECK(page().find("```text\n" + value + "\n```") != std::string::npos);

    const EtcdKeys keys{"demo"};
    EtcdPicture picture{keys};
    picture.replace({7, {{.key = keys.record(0), .value = value, .create_revision = 7, .mod_revision = 7}}});
    CHECK(picture.state().records == std::vector<port::DecisionRecord>{record});
}

}  // namespace dynaplan::connector
