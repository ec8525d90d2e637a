// The eleven rules of the event-plane specification, 1.2, on both paths of the decoder.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "fpm_bytes.hpp"
#include "wire/fpm_decode.hpp"
#include "wire/fpm_encode.hpp"
#include "wire/fpm_fields.hpp"

namespace dynaplan::wire {
namespace {

using namespace test;

// "" when the message decodes; both paths must agree on everything.
std::string error_of(const std::string& bytes, DecodedFpm& out) {
    DecodedFpm general;
    const FpmResult a = decode_fpm(bytes, out);
    const FpmResult b = decode_fpm_any_order(bytes, general);
    REQUIRE(a.has_value() == b.has_value());
    if (!a) {
        CHECK(a.error() == b.error());
        return std::string{to_string(a.error())};
    }
    CHECK(out.fpm == general.fpm);
    CHECK(out.beyond_int64 == general.beyond_int64);
    CHECK(out.has_engine_key == general.has_engine_key);
    EngineKey key;
    CHECK(scan_engine_key(bytes, key) == out.has_engine_key);
    return "";
}
std::string error_of(const std::string& bytes) {
    DecodedFpm out;
    return error_of(bytes, out);
}

const std::string named = str("worker_id") + str("7") + str("dp_rank") + byte(2);

TEST_CASE("decode: what a producer writes comes back, field by field") {
    std::string bytes;
    encode_fpm(sample_fpm(), bytes);
    DecodedFpm out;
    REQUIRE(error_of(bytes, out).empty());
    CHECK(out.fpm == sample_fpm());
    CHECK(out.beyond_int64 == 0);
    CHECK(out.has_engine_key);
}

TEST_CASE("decode: nothing of an earlier message stays behind") {
    std::string bytes;
    encode_fpm(sample_fpm(), bytes);
    DecodedFpm out;
    REQUIRE(error_of(bytes, out).empty());
    REQUIRE(error_of(map(0), out).empty());
    CHECK(out.fpm == Fpm{});
    CHECK_FALSE(out.has_engine_key);
}

TEST_CASE("decode: the root must be a map, and readable") {
    CHECK(error_of("") == "truncated");
    CHECK(error_of(byte(0x93) + byte(1) + byte(1) + byte(1)) == "bad_root");
    CHECK(error_of(byte(0x93) + byte(1) + byte(1) + byte(1) + byte(9)) == "bad_root");
    CHECK(error_of(byte(0x93) + byte(1)) == "truncated");
    CHECK(error_of(nil) == "bad_root");
    CHECK(error_of(byte(0xc1)) == "reserved_byte");
    CHECK(error_of(byte(0x91) + byte(0xc1)) == "reserved_byte");
    CHECK(error_of(f64(1.0)) == "bad_root");
}

TEST_CASE("decode: every map header is taken") {
    for (const std::string& head :
         {byte(0x82), byte(0xde) + big_endian(2, 2), byte(0xdf) + big_endian(2, 4)}) {
        DecodedFpm out;
        REQUIRE(error_of(head + named, out).empty());
        CHECK(out.fpm.worker_id == "7");
        CHECK(out.fpm.dp_rank == 2);
    }
}

TEST_CASE("decode: a key must be a str of valid UTF-8") {
    CHECK(error_of(map(1) + byte(1) + byte(1)) == "bad_key");
    CHECK(error_of(map(1) + nil + nil) == "bad_key");
    CHECK(error_of(map(1) + byte(0xc4) + byte(1) + "a" + byte(1)) == "bad_key");
    CHECK(error_of(map(1) + byte(0xc1) + byte(1)) == "reserved_byte");
    CHECK(error_of(map(1) + str("\xff\xfe") + byte(1)) == "bad_utf8");
    CHECK(error_of(map(1) + str("\xc3\xa4") + byte(1)).empty());
    CHECK(error_of(message({{"scheduled_requests", map(1) + byte(5) + byte(5)}})) == "bad_key");
    CHECK(error_of(message({{"queued_requests", map(1) + str("\xed\xa0\x80") + byte(5)}})) == "bad_utf8");
}

TEST_CASE("decode: unknown keys are skipped with any well-formed value, at both levels") {
    const std::string anything[] = {nil,
                                    byte(0xc2),
                                    byte(0xc3),
                                    f32(1),
                                    f64(1),
                                    u64(1),
                                    i64(-1),
                                    byte(0xe0),
                                    str("\xff not checked"),
                                    byte(0xd9) + byte(1) + "x",
                                    byte(0xda) + big_endian(1, 2) + "x",
                                    byte(0xdb) + big_endian(1, 4) + "x",
                                    byte(0xc4) + byte(2) + "ab",
                                    byte(0xc5) + big_endian(2, 2) + "ab",
                                    byte(0xc6) + big_endian(2, 4) + "ab",
                                    byte(0xc7) + byte(2) + byte(5) + "ab",
                                    byte(0xc8) + big_endian(2, 2) + byte(5) + "ab",
                                    byte(0xc9) + big_endian(2, 4) + byte(5) + "ab",
                                    byte(0xd4) + std::string(2, 'e'),
                                    byte(0xd5) + std::string(3, 'e'),
                                    byte(0xd6) + std::string(5, 'e'),
                                    byte(0xd7) + std::string(9, 'e'),
                                    byte(0xd8) + std::string(17, 'e'),
                                    byte(0x92) + byte(1) + nil,
                                    byte(0xdc) + big_endian(1, 2) + nil,
                                    byte(0xdd) + big_endian(1, 4) + nil,
                                    map(1) + nil + byte(0x91) + byte(1),
                                    byte(0xde) + big_endian(1, 2) + nil + nil,
                                    byte(0xdf) + big_endian(1, 4) + nil + nil};
    for (const std::string& value : anything) {
        DecodedFpm out;
        REQUIRE(error_of(map(3) + str("extra") + value + named, out).empty());
        CHECK(out.fpm.worker_id == "7");
        REQUIRE(error_of(message({{"scheduled_requests",
                                   map(2) + str("extra") + value + str("sum_prefill_tokens") + byte(9)}}),
                         out)
                    .empty());
        CHECK(out.fpm.pass.scheduled.sum_prefill_tokens == 9);
        CHECK(error_of(map(1) + str("extra") + value.substr(0, value.size() - 1)) == "truncated");
    }
}

TEST_CASE("decode: a million levels of nesting are skipped, without recursion") {
    constexpr std::size_t levels = 1'000'000;
    CHECK(error_of(map(1) + str("deep") + std::string(levels, '\x91') + nil).empty());
    CHECK(error_of(map(1) + str("deep") + std::string(levels, '\x91')) == "truncated");
}

TEST_CASE(
    "decode: a length or count beyond the rest of the message is refused before anything is done for it") {
    CHECK(error_of(byte(0xdf) + big_endian(0xffffffff, 4)) == "truncated");
    CHECK(error_of(byte(0xdf) + big_endian(0xffffffff, 4) + byte(0xc1)) == "truncated");
    CHECK(error_of(message({{"worker_id", byte(0xdb) + big_endian(0xffffffff, 4)}})) == "truncated");
    CHECK(error_of(message({{"extra", byte(0xdd) + big_endian(0xffffffff, 4)}})) == "truncated");
    CHECK(error_of(message({{"extra", byte(0xc6) + big_endian(0xffffffff, 4)}})) == "truncated");
    CHECK(error_of(message({{"extra", byte(0xc9) + big_endian(0xffffffff, 4)}})) == "truncated");
    CHECK(error_of(message({{"queued_requests", byte(0xdf) + big_endian(0xffffffff, 4)}})) == "truncated");
}

TEST_CASE("decode: of a repeated key the last value wins, of a repeated block the last block as a whole") {
    DecodedFpm out;
    REQUIRE(error_of(message({{"counter_id", byte(1)}, {"counter_id", byte(2)}}), out).empty());
    CHECK(out.fpm.pass.counter_id == 2);
    REQUIRE(error_of(message({{"queued_requests", map(1) + str("sum_prefill_tokens") + u64(~0ULL)},
                              {"queued_requests", map(1) + str("num_decode_requests") + byte(4)}}),
                     out)
                .empty());
    CHECK(out.fpm.pass.queued.sum_prefill_tokens == 0);
    CHECK(out.fpm.pass.queued.num_decode_requests == 4);
    CHECK(out.beyond_int64 == 0);
    REQUIRE(error_of(message({{"counter_id", u64(~0ULL)}, {"counter_id", byte(2)}}), out).empty());
    CHECK(out.beyond_int64 == 0);
}

TEST_CASE("decode: an integer of any width is taken, up to 2^64-1 with its bits kept") {
    const std::pair<std::string, std::int64_t> values[] = {
        {byte(0x7f), 127},
        {byte(0xe0), -32},
        {byte(0xff), -1},
        {byte(0xcc) + byte(200), 200},
        {byte(0xcd) + big_endian(60000, 2), 60000},
        {byte(0xce) + big_endian(4000000000, 4), 4000000000},
        {u64(5), 5},
        {byte(0xd0) + byte(0x80), -128},
        {byte(0xd1) + big_endian(0x8000, 2), -32768},
        {byte(0xd2) + big_endian(0x80000000, 4), -2147483648LL},
        {i64(std::numeric_limits<std::int64_t>::min()), std::numeric_limits<std::int64_t>::min()},
        {u64(0x7fffffffffffffff), std::numeric_limits<std::int64_t>::max()}};
    for (const auto& [bytes, value] : values) {
        DecodedFpm out;
        REQUIRE(error_of(message({{"counter_id", bytes}}), out).empty());
        CHECK(out.fpm.pass.counter_id == value);
        CHECK(out.beyond_int64 == 0);
    }
    DecodedFpm out;
    REQUIRE(error_of(message({{"counter_id", u64(~0ULL)}, {"dp_rank", u64(1ULL << 63U)}}), out).empty());
    CHECK(static_cast<std::uint64_t>(out.fpm.pass.counter_id) == ~0ULL);
    CHECK(static_cast<std::uint64_t>(out.fpm.dp_rank) == 1ULL << 63U);
    CHECK(out.beyond_int64 == ((1U << counter_id_bit) | (1U << dp_rank_bit)));
}

TEST_CASE("decode: an integer field takes no float, also a whole one, and nothing else") {
    const std::string sum = "sum_decode_kv_tokens";
    for (const std::string& value : {f64(17.0), f32(17.0F), byte(0xc3), str("17"), nil, map(0), byte(0x90)}) {
        CHECK(error_of(message({{"scheduled_requests", map(1) + str(sum) + value}})) == "wrong_type");
        CHECK(error_of(message({{"version", value}})) == "wrong_type");
        CHECK(error_of(message({{"dp_rank", value}})) == "wrong_type");
    }
    CHECK(error_of(message({{"dp_rank", byte(0xc1)}})) == "reserved_byte");
}

TEST_CASE("decode: a float field takes f64, f32 and any integer, and not-a-number too") {
    const std::pair<std::string, double> values[] = {{f64(0.25), 0.25},
                                                     {f32(0.25F), 0.25},
                                                     {byte(7), 7.0},
                                                     {byte(0xff), -1.0},
                                                     {u64(~0ULL), 18446744073709551616.0},
                                                     {i64(-5), -5.0},
                                                     {f64(HUGE_VAL), HUGE_VAL}};
    for (const auto& [bytes, value] : values) {
        DecodedFpm out;
        REQUIRE(error_of(message({{"wall_time", bytes}}), out).empty());
        CHECK(out.fpm.pass.wall_time == value);
    }
    DecodedFpm out;
    REQUIRE(decode_fpm(message({{"wall_time", f64(std::nan(""))}}), out).has_value());
    CHECK(std::isnan(out.fpm.pass.wall_time));
    REQUIRE(decode_fpm(message({{"wall_time", f64(-0.0)}}), out).has_value());
    CHECK(std::signbit(out.fpm.pass.wall_time));
    CHECK(error_of(message({{"wall_time", str("0.25")}})) == "wrong_type");
}

TEST_CASE("decode: worker_id is a str of valid UTF-8 of any length, not bin") {
    const std::string long_id(300, 'w');
    DecodedFpm out;
    REQUIRE(error_of(message({{"worker_id", byte(0xda) + big_endian(300, 2) + long_id}}), out).empty());
    CHECK(out.fpm.worker_id == long_id);
    REQUIRE(error_of(message({{"worker_id", str("m\xc3\xb6glich-\xf0\x9f\x98\x80")}}), out).empty());
    CHECK(error_of(message({{"worker_id", byte(0xc4) + byte(1) + "7"}})) == "wrong_type");
    CHECK(error_of(message({{"worker_id", byte(7)}})) == "wrong_type");
    for (const char* bad : {"\xff", "worker-\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
        CHECK(error_of(message({{"worker_id", str(bad)}})) == "bad_utf8");
    }
}

TEST_CASE("decode: null is never the default, and a block is a map") {
    for (const char* block : {"scheduled_requests", "queued_requests"}) {
        CHECK(error_of(message({{block, nil}})) == "wrong_type");
        CHECK(error_of(message({{block, byte(0x97)}})) == "wrong_type");
        CHECK(error_of(message({{block, map(0)}})).empty());
    }
}

TEST_CASE("decode: the whole buffer is one message") {
    std::string bytes;
    encode_fpm(sample_fpm(), bytes);
    CHECK(error_of(bytes + byte(0)) == "trailing_bytes");
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        CHECK(error_of(bytes.substr(0, size)) == "truncated");
    }
}

TEST_CASE("decode: only version 1 exists, at full width; a missing one is 1") {
    CHECK(error_of(message({{"version", byte(1)}})).empty());
    CHECK(error_of(message({{"version", i64(1)}})).empty());
    for (const std::string& other :
         {byte(0), byte(2), byte(0xff), u64(0x100000001), u64(0x8000000000000001)}) {
        CHECK(error_of(message({{"version", other}})) == "unsupported_version");
    }
}

TEST_CASE("decode: of several errors the first in byte order is named, the version last") {
    CHECK(error_of(message({{"dp_rank", str("0")}, {"worker_id", str("\xff")}})) == "wrong_type");
    CHECK(error_of(message({{"worker_id", str("\xff")}, {"dp_rank", str("0")}})) == "bad_utf8");
    CHECK(error_of(message({{"version", byte(9)}, {"dp_rank", str("0")}})) == "wrong_type");
    CHECK(error_of(message({{"version", byte(9)}}) + byte(0)) == "trailing_bytes");
}

}  // namespace
}  // namespace dynaplan::wire
