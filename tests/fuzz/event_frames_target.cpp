#include <array>
#include <cstdint>
#include <vector>

#include "fuzz/targets.hpp"
#include "wire/nats_subject.hpp"
#include "wire/zmq_frames.hpp"

namespace dynaplan::fuzz {

namespace {

using namespace wire;

std::uint64_t number(std::string_view bytes) {
    std::uint64_t value = 0;
    for (const char c : bytes) value = value * 256 + static_cast<unsigned char>(c);
    return value;
}

// Each frame after its length in two bytes; the last one may be shorter than that.
std::vector<std::string_view> frames_of(std::string_view bytes) {
    constexpr std::size_t frames_max = 8;
    std::vector<std::string_view> frames;
    while (bytes.size() >= 2 && frames.size() < frames_max) {
        const std::size_t size = number(bytes.substr(0, 2));
        frames.push_back(bytes.substr(2, size));
        bytes.remove_prefix(2 + frames.back().size());
    }
    return frames;
}

// The specification's list of checks once more, in its words.
std::string expected(const std::vector<std::string_view>& frames, std::string_view& envelope_bytes) {
    if (frames.size() != 4) return "frame_count";
    if (frames[1].size() != 8) return "publisher_id_length";
    if (frames[2].size() != 8) return "sequence_length";
    if (frames[3].size() < 5) return "frame_incomplete_header";
    if (frames[3][0] != 1) return "frame_version";
    const std::uint64_t announced = number(frames[3].substr(1, 4));
    if (announced + 5 > frames[3].size()) return "frame_incomplete_payload";
    envelope_bytes = frames[3].substr(5, announced);
    Envelope envelope;
    const auto decoded = decode_envelope(envelope_bytes, envelope);
    if (!decoded) return "envelope_" + std::string{to_string(decoded.error())};
    return envelope.topic == fpm_topic ? "ok" : "other_topic";
}

template <std::size_t n>
std::vector<std::string_view> views(const std::array<std::string, n>& frames) {
    return {frames.begin(), frames.end()};
}

std::string try_event(const std::vector<std::string_view>& frames) {
    EventMessage message;
    std::string_view envelope_bytes;
    const auto read = read_event(frames, fpm_topic, message);
    const std::string got = read ? "ok" : std::string{to_string(read.error())};
    const std::string wanted = expected(frames, envelope_bytes);
    if (got != wanted) return "read_event says " + got + ", the list of checks " + wanted;
    if (!read) return "";
    if (message.envelope_bytes != envelope_bytes) return "another envelope than the announced one";
    const Envelope& envelope = message.envelope;
    const bool mismatch = number(frames[1]) != envelope.publisher_id ||
                          number(frames[2]) != envelope.sequence || !routing_key_fits(frames[0], fpm_topic);
    if (message.identity_mismatch != mismatch) return "the frames' disagreement is not seen";

    std::array<std::string, 4> written;
    write_event(message.routing_key, envelope, written);
    EventMessage back;
    if (!read_event(views(written), fpm_topic, back)) return "what was written is refused";
    if (!(back.envelope == envelope)) return "writing changed the envelope";
    if (back.identity_mismatch != !routing_key_fits(frames[0], fpm_topic)) {
        return "frames that were written disagree with their envelope";
    }
    return "";
}

std::string try_engine_hop(const std::vector<std::string_view>& frames) {
    EngineHopMessage message;
    if (read_engine_hop(frames, message) != (frames.size() == 3)) return "another count of frames than three";
    if (frames.size() != 3) return "";
    if (message.payload != frames[2]) return "another payload than frame 2";
    if (message.sequence.has_value() != (frames[1].size() == 8)) return "a sequence that is none";
    std::array<std::string, 3> written;
    write_engine_hop(message.sequence.value_or(0), message.payload, written);
    EngineHopMessage back;
    if (!read_engine_hop(views(written), back)) return "what was written is refused";
    if (back.payload != message.payload || back.sequence != message.sequence.value_or(0)) {
        return "writing changed the message";
    }
    return "";
}

}  // namespace

std::string try_event_frames(std::string_view bytes) {
    const auto frames = frames_of(bytes);
    if (std::string problem = try_event(frames); !problem.empty()) return problem;
    return try_engine_hop(frames);
}

}  // namespace dynaplan::fuzz
