// The decisions that decision_writer writes: everything in them follows from the id, so that whoever reads
// the store can tell a whole one from half of one.
#pragma once

#include <algorithm>
#include <string>

#include "port/decision_store.hpp"

namespace dynaplan::support {

inline port::DecisionRecord written_record(DecisionId id, DecisionState state) {
    port::DecisionRecord r;
    r.decision_id = id;
    r.proposal = id * 3;
    r.prefill = Replicas{id % 7};
    r.decode = Replicas{id % 11};
    r.reason = Reason::scale_up;
    r.state = state;
    r.published_wall_ms = 1'776'800'000'000 + id;
    r.why_json = "{\"text\":\"" + std::string(static_cast<std::size_t>(40 + id % 500), 'w') + "\"}";
    return r;
}

constexpr DecisionId written_kept = 16;

inline port::Transaction publication(const port::StoredState& state, DecisionId id) {
    port::Transaction t;
    t.expected_revision = state.revision;
    t.current = id;
    t.prefill = Replicas{id % 7};
    t.decode = Replicas{id % 11};
    t.put.push_back(written_record(id, DecisionState::published));
    t.drop_below = id - written_kept + 1;
    return t;
}
inline port::Transaction acknowledgement(const port::StoredState& state, DecisionId id) {
    port::Transaction t;
    t.expected_revision = state.revision;
    t.acknowledged = id;
    t.put.push_back(written_record(id, DecisionState::acknowledged));
    return t;
}

// What is half about a state; empty when nothing is.
inline std::string half_in(const port::StoredState& s) {
    if (!s.current) return s == port::StoredState{} ? "" : "something without a decision";
    const DecisionId newest = *s.current;
    if (s.revision != static_cast<std::uint64_t>(newest) + 1) return "the revision is not the decision's";
    if (s.prefill != Replicas{newest % 7} || s.decode != Replicas{newest % 11}) return "other counts";
    const DecisionId oldest = std::max<DecisionId>(0, newest - written_kept + 1);
    if (s.records.size() != static_cast<std::size_t>(newest - oldest + 1)) return "records are missing";
    for (DecisionId id = oldest; id <= newest; ++id) {
        const bool acknowledged = s.acknowledged && id <= *s.acknowledged;
        const auto state = acknowledged ? DecisionState::acknowledged : DecisionState::published;
        if (s.records[static_cast<std::size_t>(id - oldest)] != written_record(id, state))
            return "record " + std::to_string(id) + " is another";
    }
    return {};
}

}  // namespace dynaplan::support
