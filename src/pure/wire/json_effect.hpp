// Effects as JSON lines (proto/step.md): the output of the step protocol, what the journal keeps and compares
// byte for byte, and `replay --effects`. Keys stand in a fixed order and numbers in shortest round-trip form
// (wire/json_writer.hpp). Lines are appended without newline. Nothing can fail. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/effect.hpp"
#include "core/event.hpp"
#include "core/units.hpp"

namespace dynaplan::wire {

// What the coordinator made of a proposal, where that is known.
struct ProposalFate {
    std::optional<DecisionId> decision_id;  // published under this id
    std::optional<Refusal> refused;         // or refused
};

// The core's own form: scale_to carries "proposal".
void append_effect_json(std::string& out, const Effect&);
// The form of the step protocol and of `replay --effects`: scale_to carries "decision_id" instead, or
// "proposal" and "refused". With an empty fate it is the core's own form. The fate matters to no other
// effect.
void append_effect_json(std::string& out, const Effect&, const ProposalFate&);

// {"t":5,"effect":"done"}: all effects of an input line have been written.
void append_done(std::string& out, TimePoint);
// {"t":5,"effect":"error","message":"..."}; `t` is null before the first line that had a time.
void append_error(std::string& out, std::optional<TimePoint>, std::string_view message);

// The `why` object alone, for whoever else shows a decision.
void append_why_json(std::string& out, const Why&);

}  // namespace dynaplan::wire
