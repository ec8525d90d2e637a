// The event plane's envelope: what NATS and ZeroMQ carry around every event (event-plane specification 3,
// proto/event-plane.md). A MessagePack map of five members; the payload is opaque here.
//
// decode_envelope reads each byte at most once, never beyond the buffer, never recursively, and allocates
// nothing: topic and payload are views into the input and live as long as it does. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace dynaplan::wire {

// The topic under which engines' forward-pass reports travel.
inline constexpr std::string_view fpm_topic = "forward-pass-metrics";

struct Envelope {
    std::uint64_t publisher_id = 0;  // never join on it: see the specification, 3 and 7.4
    std::uint64_t sequence = 0;      // per publisher object, from 0; no measure of loss, use counter_id
    std::uint64_t published_at = 0;  // milliseconds since the Unix epoch, by the publisher's clock
    std::string_view topic;
    std::string_view payload;
    bool operator==(const Envelope&) const = default;
};

// Why an envelope could not be read. The names are those of the specification, 1.2 and 3; bad_json is ours,
// for the JSON form (wire/envelope_json.hpp).
enum class EnvelopeError : std::uint8_t {
    truncated,        // the buffer ends early, or a length or count claims more than the rest of it
    wrong_type,       // a member of another type, a negative integer, an array of more than five values
    bad_root,         // readable, but neither a map nor an array
    bad_key,          // a key that is not a str
    bad_utf8,         // a key, or the topic
    reserved_byte,    // 0xc1
    missing_field,    // a member is absent, or the array is short
    duplicate_field,  // a member is given twice
    bad_json,         // JSON form only: not JSON at all
};
inline constexpr int envelope_error_count = static_cast<int>(EnvelopeError::bad_json) + 1;

std::string_view to_string(EnvelopeError);

using EnvelopeResult = tl::expected<void, EnvelopeError>;

// The first error in byte order is reported, missing members last. Key order is free, unknown keys are
// skipped, the array form and a payload of type str are accepted, bytes after the envelope are not looked at.
// After an error `out` must not be used. Whether the topic is the wanted one is the caller's question.
EnvelopeResult decode_envelope(std::string_view bytes, Envelope& out);

// The same through the general path only: decode_envelope first tries the order in which every known
// publisher writes. Both give the same answer on every input; this one exists so that tests can say so.
EnvelopeResult decode_envelope_any_order(std::string_view bytes, Envelope& out);

// Appends the envelope as Dynamo's publishers write it: keys in order, integers in their smallest form. The
// payload must be shorter than 4 GiB.
void encode_envelope(const Envelope& envelope, std::string& out);

}  // namespace dynaplan::wire
