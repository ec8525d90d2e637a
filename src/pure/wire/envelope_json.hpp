// The envelope as JSON, the payload as a list of byte values: a debugging aid. Nothing known puts it on the
// wire (event-plane specification 3), so the bus never tries it; tools may.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "wire/envelope.hpp"

namespace dynaplan::wire {

// Owns what Envelope only looks at.
struct JsonEnvelope {
    std::uint64_t publisher_id = 0;
    std::uint64_t sequence = 0;
    std::uint64_t published_at = 0;
    std::string topic;
    std::string payload;
    [[nodiscard]] Envelope view() const { return {publisher_id, sequence, published_at, topic, payload}; }
};

// The rules of decode_envelope, except that the text must be one whole JSON object. The first error in order
// is reported. Allocates; not for a hot path.
EnvelopeResult decode_envelope_json(std::string_view text, JsonEnvelope& out);

}  // namespace dynaplan::wire
