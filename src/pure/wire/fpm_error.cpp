#include "wire/fpm_error.hpp"

namespace dynaplan::wire {

std::string_view to_string(FpmError error) {
    switch (error) {
        case FpmError::truncated: return "truncated";
        case FpmError::trailing_bytes: return "trailing_bytes";
        case FpmError::wrong_type: return "wrong_type";
        case FpmError::bad_root: return "bad_root";
        case FpmError::bad_key: return "bad_key";
        case FpmError::bad_utf8: return "bad_utf8";
        case FpmError::reserved_byte: return "reserved_byte";
        case FpmError::unsupported_version: return "unsupported_version";
        case FpmError::bad_json: return "bad_json";
        case FpmError::no_engine_key: return "no_engine_key";
        case FpmError::empty_worker_id: return "empty_worker_id";
        case FpmError::non_finite: return "non_finite";
        case FpmError::negative: return "negative";
        case FpmError::out_of_range: return "out_of_range";
    }
    return "unknown";
}

}  // namespace dynaplan::wire
