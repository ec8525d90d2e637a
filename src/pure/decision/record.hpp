// One decision as it is stored, listed and answered to clients.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/event.hpp"
#include "core/reasons.hpp"
#include "core/units.hpp"

namespace dynaplan::decision {

struct DecisionRecord {
    DecisionId decision_id{};
    ProposalId proposal{};            // the core's number; counts from 0 again after a restart
    std::optional<Replicas> prefill;  // the whole wanted state, also of a role that this proposal left alone;
    std::optional<Replicas> decode;   // absent: never set
    std::optional<Reason> reason;     // absent where another coordinator wrote the decision
    DecisionState state = DecisionState::published;
    std::optional<std::int64_t> published_wall_ms;  // Unix time; absent where another coordinator wrote it
    Seconds timeout{1800.0};
    bool forced = false;   // the one before was never acknowledged, and its time-out had passed
    std::string why_json;  // the core's `why` as JSON text, empty when none was given
    bool operator==(const DecisionRecord&) const = default;

    template <class Archive>
    void archive(Archive& a) {
        a(decision_id, proposal, prefill, decode, reason, state, published_wall_ms, timeout, forced,
          why_json);
    }
};

}  // namespace dynaplan::decision
