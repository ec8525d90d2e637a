// Percent encoding as the event plane uses it: every byte that is not kept becomes '%' and two upper-case hex
// digits. Two sets are kept: that of NATS subjects and channel keys (specification 4.1), and that of the file
// store's names (7.6), which encodes '-' and '_' too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dynaplan::wire {

enum class Kept : std::uint8_t { letters_digits_dash_underscore, letters_digits };

std::string percent_encoded(std::string_view text, Kept kept);

// The text that was encoded; hex digits of either case are read, bytes that need no escape are taken as they
// are. Nothing when a '%' is not followed by two hex digits.
std::optional<std::string> percent_decoded(std::string_view text);

// Is `encoded` what percent_encoded would write? Allocates nothing.
bool is_percent_encoded_form(std::string_view encoded, std::string_view text, Kept kept);

}  // namespace dynaplan::wire
