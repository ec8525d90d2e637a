// Why one forward-pass report was not used. One list of causes for every form of a report (MessagePack on the
// bus, JSON in traces and in the step protocol), so that callers keep one array of counters. The names are
// those of the event-plane specification, sections 1.2 and 1.4; bad_json is ours, for the JSON form.
#pragma once

#include <cstdint>
#include <string_view>

#include <tl/expected.hpp>

namespace dynaplan::wire {

enum class FpmError : std::uint8_t {
    // the bytes cannot be read (1.2)
    truncated,            // the buffer ends early, or a length or count claims more than the rest of it
    trailing_bytes,       // a complete message and something after it
    wrong_type,           // a known field holds another type, a float for an integer, or null
    bad_root,             // readable, but not a map (JSON: not an object)
    bad_key,              // a key that is not a str
    bad_utf8,             // a key, or the worker_id
    reserved_byte,        // 0xc1
    unsupported_version,  // only version 1 exists
    bad_json,             // JSON form only: not JSON at all
    // the message is readable, but must not reach a model (1.4)
    no_engine_key,    // worker_id or dp_rank is missing
    empty_worker_id,  // worker_id is ""
    non_finite,       // a float is NaN or infinite
    negative,         // a number is below zero
    out_of_range,     // an integer is 2^63 or more
};
inline constexpr int fpm_error_count = static_cast<int>(FpmError::out_of_range) + 1;

std::string_view to_string(FpmError);

using FpmResult = tl::expected<void, FpmError>;

}  // namespace dynaplan::wire
