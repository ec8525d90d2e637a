#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "wire/fpm_trace_path.hpp"

namespace dynaplan::wire {
namespace {

TEST_CASE("trace path: one suffix is cut, the producer is made safe, the index has six digits") {
    CHECK(trace_segment_path("traces/dynamo-fpm.jsonl.gz", "worker/a:b", 7) ==
          "traces/dynamo-fpm.worker_a_b.000007.jsonl.gz");
    CHECK(trace_segment_path("/tmp/dynamo-fpm", "42", 0) == "/tmp/dynamo-fpm.42.000000.jsonl.gz");
    CHECK(trace_segment_path("a.jsonl", "42", 123456) == "a.42.123456.jsonl.gz");
    CHECK(trace_segment_path("a.jsonl.jsonl", "42", 1234567) == "a.jsonl.42.1234567.jsonl.gz");
    CHECK(trace_segment_path("a.gz", "", 1) == "a.gz.unknown.000001.jsonl.gz");
    CHECK(trace_segment_path("a", "m\xc3\xb6-_Z", 1) == "a.m_-_Z.000001.jsonl.gz");
}

TEST_CASE("trace path: a name is split at its index") {
    const TraceSegmentName name = split_segment_name("x/a.b.42.000007.jsonl.gz");
    CHECK(name.stem == "x/a.b.42");
    CHECK(name.index == 7);
    CHECK(name.has_index);
    CHECK(split_segment_name("a.42.1000000.jsonl").index == 1000000);
    for (const char* other : {"a.jsonl", "a.42.jsonl.gz", "a.42.00007x.jsonl.gz", "a.000007.gz",
                              "000007.jsonl", "a.99999999999999999999999.jsonl"}) {
        CHECK_FALSE(split_segment_name(other).has_index);
    }
}

TEST_CASE("trace path: segments of one producer are in the order in which they were written") {
    std::vector<std::string> paths{"t/a.2.1000000.jsonl.gz", "t/a.2.999999.jsonl.gz", "t/a.1.000010.jsonl.gz",
                                   "t/a.1.000002.jsonl.gz", "t/b.jsonl"};
    sort_segment_paths(paths);
    CHECK(paths == std::vector<std::string>{"t/a.1.000002.jsonl.gz", "t/a.1.000010.jsonl.gz",
                                            "t/a.2.999999.jsonl.gz", "t/a.2.1000000.jsonl.gz", "t/b.jsonl"});
}

}  // namespace
}  // namespace dynaplan::wire
