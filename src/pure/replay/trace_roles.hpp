// From the component that a trace names to the role of its engines (DESIGN 8, "Roles"), and what a recording
// tells about the engines of each role, for whatever the configuration leaves open.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/capabilities.hpp"
#include "core/config.hpp"
#include "core/role.hpp"
#include "replay/recording.hpp"

namespace dynaplan::replay {

// What the user said wins, then the table of Dynamo's backends, then the mode when it has one role.
class RoleTable {
public:
    void set(std::string component, Role role) { given_[std::move(component)] = role; }
    void set_mode(Mode mode) { mode_ = mode; }
    [[nodiscard]] std::optional<Role> role_of(std::string_view component) const;
    [[nodiscard]] const std::map<std::string, Role, std::less<>>& given() const { return given_; }

private:
    std::map<std::string, Role, std::less<>> given_;
    std::optional<Mode> mode_;
};

struct TraceFacts {
    struct OfRole {
        std::int64_t engines = 0;
        std::int64_t passes = 0;
        std::int64_t passes_with_prefill = 0;
        std::int64_t prefill_tokens_max = 0;  // of one pass
        std::int64_t kv_tokens_max = 0;       // scheduled KV of one pass
    };
    PerRole<OfRole> role;
    std::vector<std::string> unknown_components;  // no role for them; sorted
};
[[nodiscard]] TraceFacts facts_of(const Recording&, const RoleTable&);

// Of both roles disagg; of prefill alone prefill. Engines of role decode alone are aggregated ones when at
// least one pass in a hundred computes prompt tokens; fewer are preempted requests that a decode engine
// computes again.
[[nodiscard]] Mode mode_of(const TraceFacts&);

// The largest prompt work of one pass rounded up to 1,024, the largest KV, one GPU (DESIGN 8, "Trace
// replay"). What was never seen stays empty.
[[nodiscard]] Capabilities capabilities_of(const TraceFacts::OfRole&);

// Fills what the configuration leaves open, for the roles of its mode; says what it put in, one line each.
std::vector<std::string> complete(PlannerConfig&, const TraceFacts&);

}  // namespace dynaplan::replay
