// Wanted counts that somebody else than the core names: by number, or as one replica more or one less of a
// role (specification, connectors 0 and 1.4, rules A-3 and V-9). Coordinator::propose takes them from here.
#pragma once

#include <cstdint>
#include <optional>

#include "core/result.hpp"
#include "core/role.hpp"
#include "core/units.hpp"

namespace dynaplan::decision {

struct WantedCounts {
    std::optional<Replicas> prefill;  // absent: this role is left alone
    std::optional<Replicas> decode;
    bool operator==(const WantedCounts&) const = default;
};

// The counts as they were given. Fails on a negative one; 0 is a count.
Result<WantedCounts> wanted_counts(std::optional<std::int64_t> prefill, std::optional<std::int64_t> decode);

// One more and one less than the wanted count of the role that is remembered, or, where none is, than the
// instances of it that discovery has found; never below 0. The other role is left alone.
WantedCounts one_more(Role role, std::optional<Replicas> remembered, Replicas discovered);
WantedCounts one_less(Role role, std::optional<Replicas> remembered, Replicas discovered);

}  // namespace dynaplan::decision
