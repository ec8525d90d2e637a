// The fast way through an FPM: the exact bytes between the values are known, since every known producer
// writes the same keys in the same order with the same headers (event-plane specification 1.1). Internal to
// decode_fpm.
#pragma once

#include <string_view>

#include "wire/fpm_decode.hpp"

namespace dynaplan::wire {

// True and everything in `out` set when the message is written that way and sound. False says nothing about
// the message: the general decoder decides, from the start.
bool decode_as_written(std::string_view message, DecodedFpm& out);

}  // namespace dynaplan::wire
