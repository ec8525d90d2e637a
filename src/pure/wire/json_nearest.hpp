// The valid name that a wrong one most resembles, for messages that help.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace dynaplan::wire {

// The name with the fewest insertions, deletions and replacements away from `wrong`, the first of several;
// empty without names. Only the first 64 bytes of `wrong` are looked at: it may be anything.
[[nodiscard]] std::string_view nearest_name(std::string_view wrong, std::span<const std::string_view> names);

// Text from outside in quotes, fit for a one-line message: control characters replaced, cut after 64 bytes.
[[nodiscard]] std::string in_quotes(std::string_view text);

// "unknown key 'redy', did you mean 'ready'?"; `what` is the kind of name.
[[nodiscard]] std::string unknown_name(std::string_view what, std::string_view wrong,
                                       std::span<const std::string_view> names);

}  // namespace dynaplan::wire
