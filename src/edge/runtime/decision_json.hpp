// A decision as it is shown to schedulers (DESIGN 6):
//
//     {"decision_id": 7, "state": "published", "prefill": 2, "decode": 5, "reason": "scale_up",
//      "published_at": "2026-11-30T04:12:05.250Z", "timeout_s": 1800, "why": {...}}
//
// A count that was never set, a reason or time that another coordinator left out, is null.
#pragma once

#include <cstdint>
#include <string>

#include "decision/record.hpp"

namespace dynaplan::runtime {

[[nodiscard]] std::string decision_json(const decision::DecisionRecord&);

// Unix milliseconds as ISO 8601 in UTC.
[[nodiscard]] std::string utc_text(std::int64_t unix_ms);

}  // namespace dynaplan::runtime
