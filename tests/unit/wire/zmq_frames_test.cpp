// Multipart messages of ZeroMQ: events (event-plane specification 5.1) and the engine hop (2).
#include <doctest/doctest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "fpm_bytes.hpp"
#include "wire/zmq_frames.hpp"

namespace dynaplan::wire {
namespace {

using test::big_endian;
using test::byte;

constexpr std::uint64_t publisher = (1ULL << 63U) + 5;

std::array<std::string, 4> event(const Envelope& envelope = {publisher, 5, 9, fpm_topic, "report"}) {
    std::array<std::string, 4> frames;
    write_event(envelope.topic, envelope, frames);
    return frames;
}

template <class Strings>
std::vector<std::string_view> views(const Strings& frames) {
    return {frames.begin(), frames.end()};
}
template <class Strings>
std::vector<std::string_view> views(const Strings&& frames) = delete;  // the message would outlive them

template <class Strings>
std::string outcome(const Strings& frames) {
    EventMessage message;
    const auto read = read_event(views(frames), fpm_topic, message);
    if (!read) return std::string{to_string(read.error())};
    return message.identity_mismatch ? "ok, mismatch" : "ok";
}

TEST_CASE("event: four frames, the ids as eight bytes each, the envelope behind version and length") {
    const auto frames = event();
    std::string envelope;
    encode_envelope({publisher, 5, 9, fpm_topic, "report"}, envelope);
    CHECK(frames[0] == fpm_topic);
    CHECK(frames[1] == big_endian(publisher, 8));
    CHECK(frames[2] == big_endian(5, 8));
    CHECK(frames[3] == byte(1) + big_endian(envelope.size(), 4) + envelope);

    EventMessage message;
    REQUIRE(read_event(views(frames), fpm_topic, message).has_value());
    CHECK(message.routing_key == fpm_topic);
    CHECK(message.frame_publisher_id == publisher);
    CHECK(message.frame_sequence == 5);
    CHECK(message.envelope_bytes == envelope);
    CHECK(message.envelope.payload == "report");
    CHECK_FALSE(message.identity_mismatch);
}

TEST_CASE("event: writing fills the frames anew") {
    auto frames = event();
    write_event("key", {1, 2, 3, fpm_topic, ""}, frames);
    CHECK(frames[0] == "key");
    CHECK(frames[1] == big_endian(1, 8));
    CHECK(outcome(frames) == "ok, mismatch");  // "key" is no topic
}

TEST_CASE("event: any other number of frames is dropped first") {
    const auto good = event();
    std::vector<std::string> frames;
    CHECK(outcome(frames) == "frame_count");
    for (const std::string& frame : {good[0], good[1], good[2]}) {
        frames.push_back(frame);
        CHECK(outcome(frames) == "frame_count");
    }
    frames.push_back(good[3]);
    CHECK(outcome(frames) == "ok");
    frames.emplace_back();
    CHECK(outcome(frames) == "frame_count");
}

TEST_CASE("event: the checks come in the order of the specification") {
    // Everything is wrong at first; what is asked first is put right one by one.
    std::array<std::string, 4> frames{"other", "1234567", "123456789", "\x02\xff\xff\xff"};
    CHECK(outcome(frames) == "publisher_id_length");
    frames[1] = big_endian(publisher, 8);
    CHECK(outcome(frames) == "sequence_length");
    frames[2] = big_endian(6, 8);
    CHECK(outcome(frames) == "frame_incomplete_header");
    frames[3] += "\xff";
    CHECK(outcome(frames) == "frame_version");
    frames[3][0] = '\x01';
    CHECK(outcome(frames) == "frame_incomplete_payload");
    frames[3] = byte(1) + big_endian(1, 4) + byte(0xc1);
    CHECK(outcome(frames) == "envelope_reserved_byte");
    frames[3] = event({publisher, 5, 9, "forward-pass-metrics-2", ""})[3];
    CHECK(outcome(frames) == "other_topic");
    frames[3] = event()[3];
    CHECK(outcome(frames) == "ok, mismatch");
    frames[2] = big_endian(5, 8);
    CHECK(outcome(frames) == "ok, mismatch");
    frames[0] = fpm_topic;
    CHECK(outcome(frames) == "ok");
}

TEST_CASE("event: an empty frame is an incomplete header, a version of 0 is none") {
    auto frames = event();
    frames[3].clear();
    CHECK(outcome(frames) == "frame_incomplete_header");
    frames[3] = std::string(5, '\0');
    CHECK(outcome(frames) == "frame_version");
}

TEST_CASE("event: a length of 0 is a legal frame around an envelope that is cut") {
    auto frames = event();
    frames[3] = byte(1) + big_endian(0, 4);
    CHECK(outcome(frames) == "envelope_truncated");
    frames[3] = event()[3];
    frames[3].replace(1, 4, big_endian(0, 4));
    CHECK(outcome(frames) == "envelope_truncated");
}

TEST_CASE("event: only the announced bytes are the envelope's") {
    auto frames = event();
    const std::string sound = frames[3];
    frames[3] += "spare";
    EventMessage message;
    REQUIRE(read_event(views(frames), fpm_topic, message).has_value());
    CHECK(message.envelope_bytes == std::string_view{sound}.substr(5));
    frames[3] = sound;
    frames[3].replace(1, 4, big_endian(sound.size() - 5 - 1, 4));
    CHECK(outcome(frames) == "envelope_truncated");
    frames[3].replace(1, 4, big_endian(sound.size() - 5 + 1, 4));
    CHECK(outcome(frames) == "frame_incomplete_payload");
    frames[3].replace(1, 4, big_endian(0xffffffff, 4));
    CHECK(outcome(frames) == "frame_incomplete_payload");
}

TEST_CASE("event: each error of the envelope has its own cause") {
    using test::map;
    using test::str;
    const std::pair<std::string, const char*> cases[] = {
        {map(1), "envelope_truncated"},
        {map(1) + str("topic") + byte(5), "envelope_wrong_type"},
        {byte(5), "envelope_bad_root"},
        {map(1) + byte(5) + byte(5), "envelope_bad_key"},
        {map(1) + str("\xff") + byte(5), "envelope_bad_utf8"},
        {byte(0xc1), "envelope_reserved_byte"},
        {map(0), "envelope_missing_field"},
        {map(2) + str("topic") + str("t") + str("topic") + str("t"), "envelope_duplicate_field"}};
    for (const auto& [envelope, cause] : cases) {
        auto frames = event();
        frames[3] = byte(1) + big_endian(envelope.size(), 4) + envelope;
        CHECK(outcome(frames) == cause);
    }
}

TEST_CASE("event: frames that disagree with the envelope are counted, and the envelope is trusted") {
    auto frames = event();
    frames[1] = big_endian(1, 8);
    frames[2] = big_endian(6, 8);
    EventMessage message;
    REQUIRE(read_event(views(frames), fpm_topic, message).has_value());
    CHECK(message.identity_mismatch);
    CHECK(message.envelope.publisher_id == publisher);
    CHECK(message.envelope.sequence == 5);
    CHECK(message.frame_sequence == 6);
    frames = event();
    frames[0] = "namespace.a.component.b.endpoint.c.forward-pass-metrics";  // a broker's, in August
    CHECK(outcome(frames) == "ok");
    frames[0] = "forward-pass-metrics2";
    CHECK(outcome(frames) == "ok, mismatch");
}

TEST_CASE("event: every cause has a name of its own") {
    std::set<std::string_view> names;
    for (int i = 0; i < event_drop_count; ++i) names.insert(to_string(static_cast<EventDrop>(i)));
    CHECK(names.size() == event_drop_count);
    CHECK_FALSE(names.contains("unknown"));
}

TEST_CASE("engine hop: three frames, the topic empty, the sequence as eight bytes") {
    std::array<std::string, 3> frames;
    write_engine_hop(300, "report", frames);
    CHECK(frames == std::array<std::string, 3>{"", big_endian(300, 8), "report"});
    EngineHopMessage message;
    REQUIRE(read_engine_hop(views(frames), message));
    CHECK(message.sequence == 300);
    CHECK(message.payload == "report");
}

TEST_CASE("engine hop: only the number of frames can be wrong") {
    EngineHopMessage message;
    message.sequence = 7;
    for (const std::string& odd : {std::string{}, std::string{"1234567"}, std::string{"123456789"}}) {
        const std::array<std::string, 3> frames{"a topic", odd, "\xc1"};
        REQUIRE(read_engine_hop(views(frames), message));
        CHECK_FALSE(message.sequence);
        CHECK(message.payload == "\xc1");
    }
    std::vector<std::string> frames;
    for (int count = 0; count <= 5; ++count, frames.emplace_back("12345678")) {
        CHECK(read_engine_hop(views(frames), message) == (count == 3));
    }
}

}  // namespace
}  // namespace dynaplan::wire
