// Helpers of the FPM checkers: hex to bytes, and a decoded message as the vectors write it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "wire/fpm_decode.hpp"

namespace dynaplan::check_vectors {

std::optional<std::string> bytes_of_hex(std::string_view hex);
std::string hex_of(std::string_view bytes);

// All fields with their names; integers of 2^63 and more as unsigned, NaN and infinities as texts.
nlohmann::json fpm_to_json(const wire::DecodedFpm& message);

// IEEE bits in hex, by path, of every float whose bits are not all zero.
nlohmann::json float_bits(const Fpm& fpm);

}  // namespace dynaplan::check_vectors
