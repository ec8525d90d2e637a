// The envelope of the event plane (event-plane specification 3).
#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "fpm_bytes.hpp"
#include "wire/envelope.hpp"

namespace dynaplan::wire {
namespace {

using namespace test;

constexpr std::uint64_t beyond_double = (1ULL << 53U) + 1;

std::string bin(std::string_view bytes) {
    return byte(0xc4) + big_endian(bytes.size(), 1) + std::string{bytes};
}

std::string five(const std::string& sequence = byte(5), const std::string& topic = str("t"),
                 const std::string& payload = bin("\x80")) {
    return message({{"publisher_id", byte(7)},
                    {"sequence", sequence},
                    {"published_at", byte(9)},
                    {"topic", topic},
                    {"payload", payload}});
}

// "ok", or the error's name; both paths have to say the same.
std::string outcome(const std::string& bytes) {
    Envelope fast;
    Envelope general;
    const EnvelopeResult result = decode_envelope(bytes, fast);
    const EnvelopeResult again = decode_envelope_any_order(bytes, general);
    REQUIRE(result.has_value() == again.has_value());
    if (!result) {
        REQUIRE(result.error() == again.error());
        return std::string{to_string(result.error())};
    }
    REQUIRE(fast == general);
    return "ok";
}

Envelope decoded(const std::string& bytes) {
    Envelope envelope;
    REQUIRE(outcome(bytes) == "ok");
    REQUIRE(decode_envelope(bytes, envelope).has_value());
    return envelope;
}

TEST_CASE("envelope: the five members are read, topic and payload without a copy") {
    const std::string bytes = five();
    const Envelope envelope = decoded(bytes);
    CHECK(envelope.publisher_id == 7);
    CHECK(envelope.sequence == 5);
    CHECK(envelope.published_at == 9);
    CHECK(envelope.topic == "t");
    CHECK(envelope.payload == "\x80");
    CHECK(envelope.topic.data() > bytes.data());
    CHECK(envelope.payload.data() + envelope.payload.size() == bytes.data() + bytes.size());
}

TEST_CASE("envelope: writers use the smallest forms and the five keys in order") {
    std::string bytes;
    encode_envelope({7, 5, 9, "t", "\x80"}, bytes);
    CHECK(bytes == five());
    for (const auto& [size, head] : {std::pair{255U, "\xc4"}, {256U, "\xc5"}, {65'536U, "\xc6"}}) {
        bytes = "kept ";
        const std::string payload(size, 'p');
        encode_envelope({1, 2, 3, fpm_topic, payload}, bytes);
        CHECK(bytes.starts_with("kept \x85"));
        const std::size_t key = bytes.find("\xa7payload");
        REQUIRE(key != std::string::npos);
        CHECK(bytes.substr(key + 8, 1) == head);
        CHECK(decoded(bytes.substr(5)).payload == payload);
    }
}

TEST_CASE("envelope: what is written is read again, ids above 2^53 and of 64 bits included") {
    for (const std::uint64_t id : {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, beyond_double,
                                   std::numeric_limits<std::uint64_t>::max()}) {
        const Envelope sent{id, id, id, "a topic", std::string_view{"\0\xff", 2}};
        std::string bytes;
        encode_envelope(sent, bytes);
        CHECK(decoded(bytes) == sent);
    }
}

TEST_CASE("envelope: integers of any width are read, signed forms too") {
    CHECK(decoded(five(byte(0xcf) + big_endian(5, 8))).sequence == 5);
    CHECK(decoded(five(byte(0xd3) + big_endian(beyond_double, 8))).sequence == beyond_double);
    CHECK(decoded(five(byte(0xd0) + byte(5))).sequence == 5);
}

TEST_CASE("envelope: an integer that is negative, or no integer, is of the wrong type") {
    for (const std::string& sequence : {byte(0xff), byte(0xd0) + byte(0x80), i64(-1), f64(5), f32(5), nil,
                                        byte(0xc3), str("5"), bin("5"), map(0)}) {
        CHECK(outcome(five(sequence)) == "wrong_type");
    }
}

TEST_CASE("envelope: key order is free and unknown keys are skipped with their values") {
    const std::string bytes = message({{"payload", bin("p")},
                                       {"trace", map(1) + str("x") + nil},
                                       {"topic", str("t")},
                                       {"published_at", byte(9)},
                                       {"", bin("")},
                                       {"sequence", byte(5)},
                                       {"publisher_id", byte(7)}});
    CHECK(decoded(bytes) == Envelope{7, 5, 9, "t", "p"});
    CHECK(outcome(message({{"x", byte(0xc1)}})) == "reserved_byte");
}

TEST_CASE("envelope: each of the five members is required, in both forms") {
    for (std::size_t left_out = 0; left_out < 5; ++left_out) {
        const std::pair<const char*, std::string> members[] = {{"publisher_id", byte(7)},
                                                               {"sequence", byte(5)},
                                                               {"published_at", byte(9)},
                                                               {"topic", str("t")},
                                                               {"payload", bin("p")}};
        std::string bytes = map(4);
        for (std::size_t i = 0; i < 5; ++i) {
            if (i != left_out) bytes += str(members[i].first) + members[i].second;
        }
        CHECK(outcome(bytes) == "missing_field");
    }
    CHECK(outcome(map(0)) == "missing_field");
    CHECK(outcome(byte(0x90)) == "missing_field");
    CHECK(outcome(byte(0x94) + byte(7) + byte(5) + byte(9) + str("t")) == "missing_field");
}

TEST_CASE("envelope: a member that is given twice is an error, an unknown key that is given twice is not") {
    CHECK(outcome(map(2) + str("sequence") + byte(5) + str("sequence") + byte(5)) == "duplicate_field");
    CHECK(outcome(map(7) + five().substr(1) + str("x") + nil + str("x") + nil) == "ok");
    // The order of bytes decides: the second key comes before its value.
    CHECK(outcome(map(2) + str("topic") + str("t") + str("topic") + byte(0xc1)) == "duplicate_field");
}

TEST_CASE("envelope: the form of an array is read though nobody sends it") {
    const std::string values = byte(7) + byte(5) + byte(9) + str("t") + bin("p");
    CHECK(decoded(byte(0x95) + values) == Envelope{7, 5, 9, "t", "p"});
    CHECK(decoded(byte(0xdc) + big_endian(5, 2) + values) == Envelope{7, 5, 9, "t", "p"});
    CHECK(outcome(byte(0x96) + values + nil) == "wrong_type");
}

TEST_CASE("envelope: a payload of type str is read, a list of integers is refused") {
    CHECK(decoded(five(byte(5), str("t"), str("\xff"))).payload == "\xff");
    CHECK(outcome(five(byte(5), str("t"), byte(0x91) + byte(1))) == "wrong_type");
    CHECK(outcome(five(byte(5), str("t"), nil)) == "wrong_type");
    CHECK(outcome(five(byte(5), bin("t"))) == "wrong_type");
}

TEST_CASE("envelope: bytes after it are not looked at") {
    CHECK(outcome(five() + byte(0xc1)) == "ok");
    CHECK(decoded(five() + five(byte(6))).sequence == 5);
}

TEST_CASE("envelope: a root that is neither a map nor an array is named so when it can be read") {
    for (const std::string& root : {nil, byte(5), str("text"), bin("x"), f64(1)}) {
        CHECK(outcome(root) == "bad_root");
    }
    CHECK(outcome("") == "truncated");
    CHECK(outcome(byte(0xc1)) == "reserved_byte");
    CHECK(outcome(byte(0xcb) + "123") == "truncated");
}

TEST_CASE("envelope: keys are str of valid UTF-8, and so is the topic") {
    CHECK(outcome(map(1) + byte(5) + byte(5)) == "bad_key");
    CHECK(outcome(map(1) + bin("topic") + str("t")) == "bad_key");
    CHECK(outcome(map(1) + str("\xff") + nil) == "bad_utf8");
    CHECK(outcome(five(byte(5), str("\xc0\x80"))) == "bad_utf8");
    CHECK(outcome(five(byte(5), str("\xed\xa0\x80"))) == "bad_utf8");
    CHECK(decoded(five(byte(5), str("w\xc3\xa4hler"))).topic == "w\xc3\xa4hler");
}

TEST_CASE("envelope: cut anywhere it is truncated") {
    const std::string bytes = five(u64(beyond_double), str("a topic"), bin("payload"));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        CAPTURE(size);
        CHECK(outcome(bytes.substr(0, size)) == "truncated");
    }
    CHECK(outcome(bytes) == "ok");
}

TEST_CASE("envelope: a length or a count beyond the buffer is refused before anything is taken for it") {
    const std::string most = big_endian(0xffffffff, 4);
    CHECK(outcome(byte(0xdf) + most) == "truncated");
    CHECK(outcome(byte(0xdd) + most) == "truncated");
    CHECK(outcome(byte(0xdd) + most + std::string(64, '\x01')) == "truncated");
    CHECK(outcome(five(byte(5), byte(0xdb) + most)) == "truncated");
    CHECK(outcome(five(byte(5), str("t"), byte(0xc6) + most)) == "truncated");
    CHECK(outcome(map(1) + str("x") + byte(0xdf) + most) == "truncated");
    CHECK(outcome(map(1) + str("x") + byte(0xc9) + most) == "truncated");
}

TEST_CASE("envelope: an unknown value may nest as deep as it likes") {
    const std::string deep(1'000'000, '\x91');
    CHECK(outcome(map(6) + str("x") + deep + nil + five().substr(1)) == "ok");
    CHECK(outcome(map(6) + str("x") + deep) == "truncated");
    CHECK(outcome(deep) == "wrong_type");  // an array whose first value is no publisher id
}

TEST_CASE("envelope: zero bytes in texts are bytes like others") {
    const std::string with_zero{"a\0b", 3};
    CHECK(decoded(five(byte(5), str(with_zero), bin(with_zero))) == Envelope{7, 5, 9, with_zero, with_zero});
    CHECK(outcome(map(1) + str(std::string{"topic\0", 6}) + str("t")) == "missing_field");
}

TEST_CASE("envelope: every error has a name of its own") {
    for (int i = 0; i < envelope_error_count; ++i) {
        const std::string_view name = to_string(static_cast<EnvelopeError>(i));
        CHECK(name != "unknown");
        for (int k = 0; k < i; ++k) CHECK(name != to_string(static_cast<EnvelopeError>(k)));
    }
}

}  // namespace
}  // namespace dynaplan::wire
