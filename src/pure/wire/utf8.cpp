#include "wire/utf8.hpp"

#include <simdjson.h>

namespace dynaplan::wire {

bool is_utf8_beyond_ascii(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

}  // namespace dynaplan::wire
