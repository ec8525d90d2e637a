// An endpoint whose engines' reports a planner wants, and the role that they have there.
#pragma once

#include <optional>

#include "core/role.hpp"
#include "wire/event_scope.hpp"

namespace dynaplan::bus {

struct WantedEndpoint {
    wire::EventScope scope;    // of an endpoint
    std::optional<Role> role;  // none: only a directory of workers can tell
};

}  // namespace dynaplan::bus
