// The FPM decoder a second time, on msgpack-c's object tree: slow, allocating, and obviously right. The
// cursor must agree with it on every input.
#pragma once

#include <optional>
#include <string_view>

#include "wire/fpm_decode.hpp"

namespace dynaplan::fuzz {

struct TwinAnswer {
    // The bytes are one whole MessagePack value, perhaps with something after it. If not, the twin knows only
    // that the message must be refused as truncated or for a reserved byte, unless an earlier error is found.
    bool well_formed = false;
    std::optional<wire::FpmError> error;
    wire::DecodedFpm message;  // has_engine_key is not set
};
TwinAnswer twin_decode(std::string_view bytes);

}  // namespace dynaplan::fuzz
