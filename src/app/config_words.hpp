// Words of a configuration inside messages about it.
#pragma once

#include <string>
#include <string_view>

namespace dynaplan::app {

// Text from outside as part of a one-line message: characters that cannot be printed become '?', what is
// longer than `most` bytes is cut and ends with "...".
std::string printable(std::string_view text, std::size_t most = 80);

}  // namespace dynaplan::app
