#include <doctest/doctest.h>

#include <set>
#include <string>

#include "fpm_bytes.hpp"
#include "wire/fpm_trace.hpp"

namespace dynaplan::wire {
namespace {

TraceRecord sample() {
    TraceRecord record;
    record.timestamp_ms = 12;
    record.name_space = "dynamo";
    record.component = "backend";
    record.producer_id = "7587890125863921413";
    record.capture_mode = "full";
    record.observed_at_unix_ms = 1776800000123;
    record.fpm = test::sample_fpm();
    return record;
}

std::string cause(std::string_view line) {
    TraceRecord record;
    const TraceLineResult parsed = parse_trace_line(line, record);
    return parsed ? "" : describe(parsed.error());
}

// A line of the schema with these members in the event.
std::string line_with(std::string_view event_members, std::string_view timestamp = "12") {
    return R"({"timestamp":)" + std::string{timestamp} + R"(,"event":{"schema":"dynamo.fpm.trace.v1",)" +
           std::string{event_members} + "}}";
}

TEST_CASE("trace line: what is written is read back") {
    std::string line;
    append_trace_line(line, sample());
    CHECK(line.back() == '\n');
    CHECK(line.find('\n') == line.size() - 1);
    TraceRecord back;
    REQUIRE(parse_trace_line(line, back).has_value());
    CHECK(back == sample());
}

TEST_CASE("trace line: order of members, spaces and unknown members do not matter") {
    TraceRecord record;
    REQUIRE(parse_trace_line(
                R"( { "event" : {"fpm":{"dp_rank":1,"worker_id":"9"}, "more":[], "observed_at_unix_ms":5,
        "schema":"dynamo.fpm.trace.v1"}, "else": null } )",
                record)
                .has_value());
    TraceRecord expected;
    expected.observed_at_unix_ms = 5;
    expected.fpm.worker_id = "9";
    expected.fpm.dp_rank = 1;
    CHECK(record == expected);
}

TEST_CASE("trace line: nothing of an earlier line stays behind") {
    TraceLineParser parser;
    TraceRecord record;
    std::string line;
    append_trace_line(line, sample());
    REQUIRE(parser.parse(line, record).has_value());
    REQUIRE(parser.parse(line_with(R"("observed_at_unix_ms":5,"fpm":{"worker_id":"9"})", "0"), record)
                .has_value());
    TraceRecord expected;
    expected.observed_at_unix_ms = 5;
    expected.fpm.worker_id = "9";
    CHECK(record == expected);
}

TEST_CASE("trace line: JSON of another kind is left to the caller") {
    CHECK(cause(R"({"t":5,"event":"tick"})") == "other_line");
    CHECK(cause(R"({"t":5,"event":"fpm","role":"decode","fpm":{"worker_id":"9"}})") == "other_line");
    CHECK(cause(R"({"timestamp":1,"event":{"schema":"dynamo.fpm.trace.v2","fpm":{}}})") == "other_line");
    CHECK(cause(R"({"timestamp":1,"event":{"fpm":{}}})") == "other_line");
    CHECK(cause("[]") == "other_line");
    CHECK(cause("7") == "other_line");
}

TEST_CASE("trace line: each refusal has its cause") {
    CHECK(cause("") == "bad_json");
    CHECK(cause("{\"timestamp\":1") == "bad_json");
    CHECK(cause(line_with(R"("fpm":{"worker_id":"9"})")) == "missing_field");
    CHECK(cause(line_with(R"("observed_at_unix_ms":5)")) == "missing_field");
    CHECK(cause(line_with(R"("observed_at_unix_ms":5.0,"fpm":{"worker_id":"9"})")) == "wrong_type");
    CHECK(cause(line_with(R"("observed_at_unix_ms":"5","fpm":{"worker_id":"9"})")) == "wrong_type");
    CHECK(cause(line_with(R"("observed_at_unix_ms":5,"fpm":{"worker_id":"9"})", "null")) == "wrong_type");
    CHECK(cause(line_with(R"("observed_at_unix_ms":5,"source":7,"fpm":{"worker_id":"9"})")) == "wrong_type");
    CHECK(cause(line_with(R"("observed_at_unix_ms":5,"source":{"component":7},"fpm":{"worker_id":"9"})")) ==
          "wrong_type");
    CHECK(cause(line_with(R"("observed_at_unix_ms":5,"capture_mode":7,"fpm":{"worker_id":"9"})")) ==
          "wrong_type");
    CHECK(cause(line_with(R"("observed_at_unix_ms":9223372036854775808,"fpm":{"worker_id":"9"})")) ==
          "out_of_range");
    CHECK(cause(line_with(R"("observed_at_unix_ms":5,"fpm":[])")) == "bad_fpm: bad_root");
    CHECK(cause(line_with(R"("observed_at_unix_ms":5,"fpm":{"worker_id":"9","dp_rank":-1})")) ==
          "bad_fpm: negative");
    CHECK(cause(line_with(R"("observed_at_unix_ms":5,"fpm":{"dp_rank":1})")) == "bad_fpm: empty_worker_id");
}

TEST_CASE("trace line: every cause has a name of its own") {
    std::set<std::string> names;
    for (int i = 0; i < trace_line_cause_count; ++i) names.emplace(to_string(static_cast<TraceLineCause>(i)));
    CHECK(names.size() == trace_line_cause_count);
    CHECK(names.count("unknown") == 0);
}

}  // namespace
}  // namespace dynaplan::wire
