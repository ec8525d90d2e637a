// The envelope's decoder a second time, on msgpack-c's object tree: slow, allocating, and obviously right.
// The cursor must agree with it wherever msgpack-c can read the bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wire/envelope.hpp"
#include "wire/envelope_json.hpp"

namespace dynaplan::fuzz {

struct EnvelopeTwinAnswer {
    // The bytes begin with one whole MessagePack value. If not, the twin knows only that they must be
    // refused.
    bool well_formed = false;
    std::optional<wire::EnvelopeError> error;
    wire::JsonEnvelope envelope;  // it owns its texts
};
EnvelopeTwinAnswer twin_decode_envelope(std::string_view bytes);

}  // namespace dynaplan::fuzz
