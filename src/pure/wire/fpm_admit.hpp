// Admission: which readable reports may reach the core (event-plane specification 1.4, a rule of this
// project). The tests run in the specification's order: no_engine_key, empty_worker_id, non_finite, negative,
// out_of_range. Anything else is accepted, heartbeats included. Count what is refused by cause.
#pragma once

#include "wire/fpm_decode.hpp"
#include "wire/fpm_error.hpp"

namespace dynaplan::wire {

FpmResult admit(const DecodedFpm& message);

// For forms in which a missing dp_rank takes its default instead of making the key incomplete (JSON): the
// rules from empty_worker_id on. `beyond_int64` as in DecodedFpm.
FpmResult admit_values(const Fpm& fpm, std::uint16_t beyond_int64);

}  // namespace dynaplan::wire
