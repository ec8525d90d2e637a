#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "fpm_bytes.hpp"
#include "wire/fpm_json.hpp"

namespace dynaplan::wire {
namespace {

std::string written(const Fpm& fpm) {
    std::string out;
    append_fpm_json(out, fpm);
    return out;
}

std::string float_text(double value) {
    std::string out;
    append_json_float(out, value);
    return out;
}

std::string cause(std::string_view text, Fpm& out) {
    FpmJsonReader reader;
    const FpmResult read = reader.read(text, out);
    return read ? "" : std::string{to_string(read.error())};
}
std::string cause(std::string_view text) {
    Fpm out;
    return cause(text, out);
}

TEST_CASE("FPM as JSON: compact, in wire order, floats recognisable as floats") {
    CHECK(
        written(test::sample_fpm()) ==
        R"({"version":1,"worker_id":"7587890125863921413","dp_rank":3,"counter_id":42,"wall_time":0.018734,)"
        R"("scheduled_requests":{"num_prefill_requests":2,"sum_prefill_tokens":3072,)"
        R"("var_prefill_length":262144.0,"sum_prefill_kv_tokens":1024,"num_decode_requests":17,)"
        R"("sum_decode_kv_tokens":70211,"var_decode_kv_tokens":1843.25},)"
        R"("queued_requests":{"num_prefill_requests":3,"sum_prefill_tokens":9001,"var_prefill_length":12.5,)"
        R"("num_decode_requests":1,"sum_decode_kv_tokens":4096,"var_decode_kv_tokens":0.5}})");
}

TEST_CASE("FPM as JSON: what is written is read back") {
    Fpm fpm = test::sample_fpm();
    fpm.worker_id = "pod/\"a\"\\\n\x01 \xc3\xa4";
    fpm.pass.counter_id = std::numeric_limits<std::int64_t>::max();
    fpm.pass.wall_time = 5e-324;
    fpm.pass.scheduled.var_decode_kv_tokens = std::numeric_limits<double>::max();
    Fpm back;
    REQUIRE(cause(written(fpm), back).empty());
    CHECK(back == fpm);
}

TEST_CASE("FPM as JSON: floats in shortest form") {
    CHECK(float_text(0.0) == "0.0");
    CHECK(float_text(100000.0) == "100000.0");
    CHECK(float_text(0.1) == "0.1");
    CHECK(float_text(1.0 / 3.0) == "0.3333333333333333");
    CHECK(float_text(9007199254740992.0) == "9007199254740992.0");
    CHECK(float_text(1e300) == "1e+300");
    CHECK(float_text(-0.0) == "-0.0");
    CHECK(float_text(std::nan("")) == "null");
}

TEST_CASE("FPM from JSON: missing fields take the defaults, unknown ones are skipped") {
    Fpm fpm;
    REQUIRE(
        cause(
            R"({"worker_id":"7","extra":{"deep":[1,{}]},"scheduled_requests":{"x":1,"sum_prefill_tokens":5}})",
            fpm)
            .empty());
    Fpm expected;
    expected.worker_id = "7";
    expected.pass.scheduled.sum_prefill_tokens = 5;
    CHECK(fpm == expected);
}

TEST_CASE("FPM from JSON: of a repeated key the last wins") {
    Fpm fpm;
    REQUIRE(
        cause(R"({"worker_id":"7","counter_id":1,"counter_id":2,"queued_requests":{"sum_prefill_tokens":5},)"
              R"("queued_requests":{}})",
              fpm)
            .empty());
    CHECK(fpm.pass.counter_id == 2);
    CHECK(fpm.pass.queued == QueuedRequests{});
}

TEST_CASE("FPM from JSON: an integer field takes no float, a float field takes both") {
    CHECK(cause(R"({"worker_id":"7","dp_rank":1.0})") == "wrong_type");
    CHECK(cause(R"({"worker_id":"7","dp_rank":1e0})") == "wrong_type");
    CHECK(cause(R"({"worker_id":"7","dp_rank":true})") == "wrong_type");
    CHECK(cause(R"({"worker_id":"7","dp_rank":"1"})") == "wrong_type");
    CHECK(cause(R"({"worker_id":7})") == "wrong_type");
    CHECK(cause(R"({"worker_id":"7","queued_requests":null})") == "wrong_type");
    CHECK(cause(R"({"worker_id":"7","queued_requests":[]})") == "wrong_type");
    CHECK(cause(R"({"worker_id":"7","wall_time":null})") == "wrong_type");
    Fpm fpm;
    REQUIRE(cause(R"({"worker_id":"7","wall_time":2})", fpm).empty());
    CHECK(fpm.pass.wall_time == 2.0);
}

TEST_CASE("FPM from JSON: the causes are those of the wire") {
    CHECK(cause("") == "bad_json");
    CHECK(cause("{") == "bad_json");
    CHECK(cause(R"({"worker_id":"7","wall_time":NaN})") == "bad_json");
    CHECK(cause("[1]") == "bad_root");
    CHECK(cause("7") == "bad_root");
    CHECK(cause("{}") == "empty_worker_id");
    CHECK(cause(R"({"worker_id":""})") == "empty_worker_id");
    CHECK(cause(R"({"worker_id":"7","version":2})") == "unsupported_version");
    CHECK(cause(R"({"worker_id":"7","version":9223372036854775809})") == "unsupported_version");
    CHECK(cause(R"({"worker_id":"7","dp_rank":-1})") == "negative");
    CHECK(cause(R"({"worker_id":"7","wall_time":-0.5})") == "negative");
    CHECK(cause(R"({"worker_id":"7","counter_id":18446744073709551615})") == "out_of_range");
    CHECK(cause(R"({"worker_id":"7","counter_id":9223372036854775808,"dp_rank":-1})") == "negative");
    CHECK(cause(R"({"worker_id":"7","counter_id":9223372036854775808,"counter_id":1})").empty());
}

TEST_CASE("FPM from JSON: a reader is reused, and keeps nothing of the object before") {
    FpmJsonReader reader;
    Fpm fpm;
    REQUIRE(reader.read(written(test::sample_fpm()), fpm).has_value());
    CHECK_FALSE(reader.read("{", fpm).has_value());
    REQUIRE(reader.read(R"({"worker_id":"8"})", fpm).has_value());
    Fpm expected;
    expected.worker_id = "8";
    CHECK(fpm == expected);
}

}  // namespace
}  // namespace dynaplan::wire
