// The FPM reader for code that has parsed a line with simdjson already. Internal to .cpp files: no header may
// include this one.
#pragma once

#include <simdjson.h>

#include "core/fpm.hpp"
#include "wire/fpm_error.hpp"

namespace dynaplan::wire {

// As FpmJsonReader::read, from an element of a parsed document.
FpmResult read_fpm_json(simdjson::dom::element element, Fpm& out);

}  // namespace dynaplan::wire
