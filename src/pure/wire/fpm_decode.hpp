// The FPM payload as it comes over the bus: MessagePack, read strictly (event-plane specification 1.2,
// proto/fpm.md).
//
// decode_fpm reads every byte once, never beyond the buffer, never recursively, and never allocates for a
// length that the message only claims. It allocates nothing at all once `out` has been used for a worker_id
// of the same length. Whether a readable message may be used is the next question: admit
// (wire/fpm_admit.hpp). Any thread, as long as `out` is not shared.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/engine.hpp"
#include "core/fpm.hpp"
#include "wire/fpm_error.hpp"

namespace dynaplan::wire {

// A decoded message that has lost nothing. An integer of 2^63 or more keeps its bits in the int64 member of
// `fpm`, and its bit (FpmIntField) is set in `beyond_int64`. admit refuses such messages.
struct DecodedFpm {
    Fpm fpm;
    std::uint16_t beyond_int64 = 0;
    bool has_engine_key = false;  // what the reference tracker's scan would say; see scan_engine_key
};

// The first error in byte order is reported, the version last of all. After an error `out` holds what was
// read so far and must not be used.
FpmResult decode_fpm(std::string_view message, DecodedFpm& out);

// The same through the general path only: decode_fpm first tries the exact order in which every known
// producer writes. Both give the same answer on every input; this one exists so that tests can say so.
FpmResult decode_fpm_any_order(std::string_view message, DecodedFpm& out);

// The engine key that the reference tracker takes from a message on arrival, before it decodes (specification
// 1.3): it stops as soon as worker_id and dp_rank are both known, so that broken messages have one too, and
// repeated keys may answer otherwise than the decoder. Only for comparison with the reference: we take the
// key from the decoded message. False when there is none; `out` is meaningless then.
bool scan_engine_key(std::string_view message, EngineKey& out);

}  // namespace dynaplan::wire
