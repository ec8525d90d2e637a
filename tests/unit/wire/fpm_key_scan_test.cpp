// The reference tracker's way to an engine key (event-plane specification 1.3).
#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "fpm_bytes.hpp"
#include "wire/fpm_decode.hpp"

namespace dynaplan::wire {
namespace {

using namespace test;

std::optional<EngineKey> scanned(const std::string& bytes) {
    EngineKey key;
    if (!scan_engine_key(bytes, key)) return std::nullopt;
    return key;
}

TEST_CASE("key scan: both parts must be present, in any order") {
    CHECK(scanned(message({{"worker_id", str("a")}, {"dp_rank", byte(4)}})) == EngineKey{"a", 4});
    CHECK(scanned(message({{"dp_rank", byte(0xff)}, {"x", nil}, {"worker_id", str("")}})) ==
          EngineKey{"", -1});
    CHECK_FALSE(scanned(message({{"worker_id", str("a")}})));
    CHECK_FALSE(scanned(message({{"dp_rank", byte(4)}})));
    CHECK_FALSE(scanned(map(0)));
    CHECK_FALSE(scanned(""));
    CHECK_FALSE(scanned(byte(0x92) + str("a") + byte(4)));
}

TEST_CASE("key scan: it stops when both are known, whatever follows") {
    const std::string key = str("worker_id") + str("a") + str("dp_rank") + byte(4);
    CHECK(scanned(map(9) + key) == EngineKey{"a", 4});
    CHECK(scanned(byte(0xdf) + big_endian(0xffffffff, 4) + key + byte(0xc1)) == EngineKey{"a", 4});
    CHECK(scanned(map(3) + key + str("dp_rank") + byte(5)) == EngineKey{"a", 4});
    CHECK(scanned(map(3) + str("dp_rank") + byte(5) + str("dp_rank") + byte(4) + str("worker_id") +
                  str("a")) == EngineKey{"a", 4});
}

TEST_CASE("key scan: a wrong type or a malformed byte before that ends it") {
    CHECK_FALSE(scanned(message({{"x", byte(0xc1)}, {"worker_id", str("a")}, {"dp_rank", byte(4)}})));
    CHECK_FALSE(scanned(message({{"worker_id", byte(1)}, {"dp_rank", byte(4)}})));
    CHECK_FALSE(scanned(message({{"worker_id", str("\xff")}, {"dp_rank", byte(4)}})));
    CHECK_FALSE(scanned(message({{"worker_id", str("a")}, {"dp_rank", f64(4)}})));
    CHECK_FALSE(scanned(message({{"worker_id", str("a")}, {"dp_rank", u64(1ULL << 63U)}})));
    CHECK_FALSE(scanned(map(2) + byte(1) + byte(1) + str("worker_id") + str("a")));
}

TEST_CASE("key scan: the decoder says whether there is one, also where repeated keys answer otherwise") {
    DecodedFpm out;
    REQUIRE(
        decode_fpm(message({{"worker_id", str("a")}, {"dp_rank", byte(4)}, {"dp_rank", u64(~0ULL)}}), out));
    CHECK(out.has_engine_key);
    REQUIRE(
        decode_fpm(message({{"worker_id", str("a")}, {"dp_rank", u64(~0ULL)}, {"dp_rank", byte(4)}}), out));
    CHECK_FALSE(out.has_engine_key);
    CHECK(out.fpm.dp_rank == 4);
    REQUIRE(decode_fpm(message({{"worker_id", str("a")}}), out));
    CHECK_FALSE(out.has_engine_key);
}

}  // namespace
}  // namespace dynaplan::wire
