// Multipart messages of ZeroMQ, as spans of frames: an event of the event plane (four frames, event-plane
// specification 5.1) and a report on the hop from an engine to its relay (three frames, 2).
//
// Reading allocates nothing; all views point into the frames. Errors drop the message, never the connection.
// Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "wire/envelope.hpp"

namespace dynaplan::wire {

using Frames = std::span<const std::string_view>;

// Why an event was dropped, in the order in which is asked; one list, so that callers keep one array of
// counters. The names are those of the specification, 5.1. The envelope's are in EnvelopeError's order.
enum class EventDrop : std::uint8_t {
    frame_count,
    publisher_id_length,
    sequence_length,
    frame_incomplete_header,
    frame_version,
    frame_incomplete_payload,
    envelope_truncated,
    envelope_wrong_type,
    envelope_bad_root,
    envelope_bad_key,
    envelope_bad_utf8,
    envelope_reserved_byte,
    envelope_missing_field,
    envelope_duplicate_field,
    other_topic,
};
inline constexpr int event_drop_count = static_cast<int>(EventDrop::other_topic) + 1;

std::string_view to_string(EventDrop);

struct EventMessage {
    std::string_view routing_key;  // frame 0: what the broker and the socket match, by prefix
    std::uint64_t frame_publisher_id = 0;
    std::uint64_t frame_sequence = 0;
    std::string_view envelope_bytes;  // of the announced length
    Envelope envelope;
    // The frames disagree with the envelope on publisher, sequence or topic. The envelope is trusted; the
    // caller counts.
    bool identity_mismatch = false;
};

// `topic` is the subscribed one: ZeroMQ matches by prefix, so the envelope's is compared for equality.
tl::expected<void, EventDrop> read_event(Frames frames, std::string_view topic, EventMessage& out);

struct EngineHopMessage {
    std::optional<std::uint64_t> sequence;  // none when frame 1 is not eight bytes: relays never read it
    std::string_view payload;               // the report's bytes
};

// False when there are not exactly three frames, the only thing that can be wrong at this hop.
bool read_engine_hop(Frames frames, EngineHopMessage& out);

// The publishers' side. Each fills `out` anew and keeps its memory. The envelope must be shorter than 4 GiB.
void write_event(std::string_view routing_key, const Envelope& envelope, std::array<std::string, 4>& out);
void write_engine_hop(std::uint64_t sequence, std::string_view payload, std::array<std::string, 3>& out);

}  // namespace dynaplan::wire
