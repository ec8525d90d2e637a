// What clients of the HTTP API may send, read strictly: everything else is an answer 400 that says what was
// expected.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/event.hpp"
#include "core/result.hpp"
#include "core/role.hpp"
#include "net/http_message.hpp"

namespace dynaplan::runtime {

inline constexpr Seconds wait_most{60.0};

struct NextQuery {
    DecisionId after = -1;
    Seconds wait{0.0};
};
// ?after=ID&wait=30s: `after` from -1, `wait` in s (the default) or ms, at most wait_most.
Result<NextQuery> next_query(const net::HttpRequest&);

Result<DecisionId> decision_id(std::string_view text);

// {"decode": {"ready": 3, "expected": 4, "rolling": true}}: roles of the mode, counts of 0 and more or null;
// what is left out is not known.
Result<std::vector<InventoryRead>> inventory_of(const std::string& body, Mode);

}  // namespace dynaplan::runtime
