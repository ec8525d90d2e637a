// Writing an FPM payload exactly as Dynamo's producers do (event-plane specification 1.1): every field, in
// order, the smallest integer form, floats always 64 bits wide. For publishers, tests and the fleet
// simulator's users.
#pragma once

#include <string>

#include "core/fpm.hpp"

namespace dynaplan::wire {

// Appends one message to `out`. Any Fpm can be written; nothing can fail.
void encode_fpm(const Fpm& fpm, std::string& out);

}  // namespace dynaplan::wire
