// The three spellings of an id, and Kubernetes' way to one (event-plane specification 7.4, 7.8).
#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "wire/instance_id.hpp"

namespace dynaplan::wire {
namespace {

TEST_CASE("instance id: decimal in reports, lower-case hex without padding in keys") {
    CHECK(hex_of_id(0) == "0");
    CHECK(hex_of_id(255) == "ff");
    CHECK(hex_of_id(7'587'890'125'863'921'413ULL) == "694d99ddfad02705");
    CHECK(worker_id_of(7'587'890'125'863'921'413ULL) == "7587890125863921413");
    CHECK(hex_of_id(std::numeric_limits<std::uint64_t>::max()) == "ffffffffffffffff");
    CHECK(worker_id_of(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
}

TEST_CASE("instance id: neighbours above 2^53 stay apart") {
    constexpr std::uint64_t even = 1ULL << 53U;
    CHECK(hex_of_id(even) != hex_of_id(even + 1));
    constexpr std::uint64_t last = ~std::uint64_t{0};
    for (const std::uint64_t id : {even, even + 1, even + 3, last, last - 1}) {
        CHECK(id_from_hex(hex_of_id(id)) == id);
    }
}

TEST_CASE("instance id: 1 to 16 hex digits of either case are read, padded ones too") {
    CHECK(id_from_hex("1A2b") == 0x1a2b);
    CHECK(id_from_hex("000000000000001f") == 0x1f);
    for (const char* text : {"", "00000000000000001", "g", "0x1f", "-1", "+1", " 1", "1 ", "1.0", "7f/"}) {
        CAPTURE(text);
        CHECK_FALSE(id_from_hex(text));
    }
    CHECK_FALSE(id_from_hex(std::string_view{"1\0", 2}));
}

TEST_CASE("instance id: Kubernetes' ids are 53 bits of SipHash-1-3 over the name") {
    // Computed with the SipHash-1-3 of a Python interpreter that ran with a zero key; the last word is empty,
    // partly filled, and, with the closing byte, full.
    CHECK(kube_instance_id("") == 121'655'548'788'207ULL);
    CHECK(kube_instance_id("a") == 7'688'582'637'611'507ULL);
    CHECK(kube_instance_id("pod-abc") == 1'902'669'825'758'204ULL);
    CHECK(kube_instance_id("worker-0") == 1'186'445'869'714'687ULL);
    CHECK(kube_instance_id("fifteen-bytes-x") == 8'085'467'702'983'826ULL);
    CHECK(kube_instance_id("sixteen-bytes-xy") == 6'936'672'306'220'491ULL);
    CHECK(kube_instance_id("vllm-decode-6d8f9c7b5-x2k4q") == 4'833'989'186'923'542ULL);
    CHECK(kube_instance_id("w\xc3\xa4hler") == 2'476'048'142'979'001ULL);
}

}  // namespace
}  // namespace dynaplan::wire
