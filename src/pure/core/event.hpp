// Everything that can influence a decision. Each event has a time; times never decrease.
// The JSON form of each is in proto/step.md, the binary one in proto/journal.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/capabilities.hpp"
#include "core/engine.hpp"
#include "core/field_value.hpp"
#include "core/fpm.hpp"
#include "core/reading.hpp"
#include "core/role.hpp"
#include "core/traffic.hpp"
#include "core/units.hpp"

namespace dynaplan {

using ProposalId = std::int64_t;  // the core's own running number, from 0
using DecisionId = std::int64_t;  // the coordinator's, never repeated, from 0

struct EngineJoined {
    Role role{};
    EngineKey engine;
    Capabilities capabilities;
};
struct EngineLeft {
    Role role{};
    EngineKey engine;
};
struct FpmArrived {
    Role role{};
    Fpm fpm;
};
struct InventoryRead {  // what the fleet's operator says about a role
    Role role{};
    std::optional<Replicas> ready;
    std::optional<Replicas> expected;
    bool rolling = false;
};
struct TrafficObserved {  // the answer to traffic_wanted, or volunteered
    Seconds window{0.0};
    Reading<Traffic> traffic;
};
struct TickDue {};  // run what is due at or before this time

enum class OutcomeKind : std::uint8_t { acknowledged, failed, timed_out, superseded };
struct DecisionOutcome {
    DecisionId decision_id{};
    OutcomeKind outcome{};
};
struct DecisionPublished {
    ProposalId proposal{};
    DecisionId decision_id{};
};
enum class Refusal : std::uint8_t { unchanged, not_ready, conflict, store };
struct DecisionRefused {
    ProposalId proposal{};
    Refusal reason{};
};
enum class DecisionState : std::uint8_t { published, acknowledged, failed, timed_out, superseded };
struct DecisionRestored {  // fed at a start or a take-over, before the first tick
    DecisionId decision_id{};
    std::optional<Replicas> prefill;
    std::optional<Replicas> decode;
    DecisionState state{};
    Seconds age{0.0};
};
struct ConfigChanged {  // only fields that may change while running; all or nothing
    std::vector<std::pair<std::string, FieldValue>> set;
};
struct BusChanged {
    bool connected = true;
};
struct LeaderChanged {
    bool leading = true;
};

using EventBody = std::variant<EngineJoined, EngineLeft, FpmArrived, InventoryRead, TrafficObserved, TickDue,
                               DecisionOutcome, DecisionPublished, DecisionRefused, DecisionRestored,
                               ConfigChanged, BusChanged, LeaderChanged>;
struct Event {
    TimePoint at{};
    EventBody body;
};

std::string_view to_string(OutcomeKind);
std::string_view to_string(Refusal);
std::string_view to_string(DecisionState);

}  // namespace dynaplan
