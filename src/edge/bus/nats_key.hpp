// NATS's own keys: Ed25519, written in base32 with a kind in front and a check sum behind. The C client signs
// with a seed, but wants to be told the public key that belongs to it. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/result.hpp"

namespace dynaplan::bus {

// The public key ("U...") of a user's seed ("SU..."). The message of a failure does not hold the seed.
[[nodiscard]] Result<std::string> nats_public_key(std::string_view seed);

}  // namespace dynaplan::bus
