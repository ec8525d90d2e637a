#include "wire/zmq_frames.hpp"

#include <limits>

#include "core/assert.hpp"
#include "wire/nats_subject.hpp"

namespace dynaplan::wire {

namespace {

constexpr std::size_t id_bytes = 8;
constexpr std::size_t header_bytes = 5;  // version, then the envelope's length in four bytes
constexpr char frame_version = 1;

std::uint64_t big_endian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (const char c : bytes) value = (value << 8U) | static_cast<unsigned char>(c);
    return value;
}

void append_big_endian(std::string& out, std::uint64_t value, unsigned bytes) {
    for (unsigned i = bytes; i > 0; --i) {
        out += static_cast<char>(static_cast<unsigned char>(value >> (8U * (i - 1))));
    }
}

// The list of EventDrop holds the envelope's errors in their order, the JSON form's left out.
EventDrop drop_of(EnvelopeError error) {
    return static_cast<EventDrop>(static_cast<int>(EventDrop::envelope_truncated) + static_cast<int>(error));
}
static_assert(static_cast<int>(EventDrop::envelope_truncated) +
                  static_cast<int>(EnvelopeError::duplicate_field) ==
              static_cast<int>(EventDrop::envelope_duplicate_field));
static_assert(static_cast<int>(EnvelopeError::bad_json) ==
              static_cast<int>(EnvelopeError::duplicate_field) + 1);

}  // namespace

std::string_view to_string(EventDrop drop) {
    switch (drop) {
        case EventDrop::frame_count: return "frame_count";
        case EventDrop::publisher_id_length: return "publisher_id_length";
        case EventDrop::sequence_length: return "sequence_length";
        case EventDrop::frame_incomplete_header: return "frame_incomplete_header";
        case EventDrop::frame_version: return "frame_version";
        case EventDrop::frame_incomplete_payload: return "frame_incomplete_payload";
        case EventDrop::envelope_truncated: return "envelope_truncated";
        case EventDrop::envelope_wrong_type: return "envelope_wrong_type";
        case EventDrop::envelope_bad_root: return "envelope_bad_root";
        case EventDrop::envelope_bad_key: return "envelope_bad_key";
        case EventDrop::envelope_bad_utf8: return "envelope_bad_utf8";
        case EventDrop::envelope_reserved_byte: return "envelope_reserved_byte";
        case EventDrop::envelope_missing_field: return "envelope_missing_field";
        case EventDrop::envelope_duplicate_field: return "envelope_duplicate_field";
        case EventDrop::other_topic: return "other_topic";
    }
    return "unknown";
}

tl::expected<void, EventDrop> read_event(Frames frames, std::string_view topic, EventMessage& out) {
    const auto drop = [](EventDrop why) { return tl::unexpected{why}; };
    if (frames.size() != 4) return drop(EventDrop::frame_count);
    if (frames[1].size() != id_bytes) return drop(EventDrop::publisher_id_length);
    if (frames[2].size() != id_bytes) return drop(EventDrop::sequence_length);
    const std::string_view framed = frames[3];
    if (framed.size() < header_bytes) return drop(EventDrop::frame_incomplete_header);
    if (framed[0] != frame_version) return drop(EventDrop::frame_version);
    const std::uint64_t announced = big_endian(framed.substr(1, header_bytes - 1));
    if (announced > framed.size() - header_bytes) return drop(EventDrop::frame_incomplete_payload);

    out.routing_key = frames[0];
    out.frame_publisher_id = big_endian(frames[1]);
    out.frame_sequence = big_endian(frames[2]);
    out.envelope_bytes = framed.substr(header_bytes, static_cast<std::size_t>(announced));
    if (const auto read = decode_envelope(out.envelope_bytes, out.envelope); !read) {
        return drop(drop_of(read.error()));
    }
    if (out.envelope.topic != topic) return drop(EventDrop::other_topic);
    out.identity_mismatch = out.frame_publisher_id != out.envelope.publisher_id ||
                            out.frame_sequence != out.envelope.sequence ||
                            !routing_key_fits(out.routing_key, topic);
    return {};
}

bool read_engine_hop(Frames frames, EngineHopMessage& out) {
    if (frames.size() != 3) return false;
    out.sequence.reset();
    if (frames[1].size() == id_bytes) out.sequence = big_endian(frames[1]);
    out.payload = frames[2];
    return true;
}

void write_event(std::string_view routing_key, const Envelope& envelope, std::array<std::string, 4>& out) {
    for (std::string& frame : out) frame.clear();
    out[0] = routing_key;
    append_big_endian(out[1], envelope.publisher_id, id_bytes);
    append_big_endian(out[2], envelope.sequence, id_bytes);
    std::string& framed = out[3];
    framed.assign(header_bytes, '\0');
    encode_envelope(envelope, framed);
    const std::uint64_t length = framed.size() - header_bytes;
    DYNAPLAN_ASSERT(length <= std::numeric_limits<std::uint32_t>::max());
    framed[0] = frame_version;
    for (unsigned i = 0; i < 4; ++i) {
        framed[i + 1] = static_cast<char>(static_cast<unsigned char>(length >> (8U * (3 - i))));
    }
}

void write_engine_hop(std::uint64_t sequence, std::string_view payload, std::array<std::string, 3>& out) {
    for (std::string& frame : out) frame.clear();
    append_big_endian(out[1], sequence, id_bytes);
    out[2] = payload;
}

}  // namespace dynaplan::wire
