#include "decision/store.hpp"

#include <algorithm>

namespace dynaplan::decision {

bool apply(const Transaction& t, StoredState& state) {
    if (t.expected_revision != state.revision) return false;
    auto& records = state.records;
    for (const DecisionRecord& put : t.put) {
        const auto place =
            std::lower_bound(records.begin(), records.end(), put.decision_id,
                             [](const DecisionRecord& r, DecisionId id) { return r.decision_id < id; });
        if (place != records.end() && place->decision_id == put.decision_id) {
            *place = put;
        } else {
            records.insert(place, put);
        }
    }
    std::erase_if(records, [&t](const DecisionRecord& r) { return r.decision_id < t.drop_below; });
    if (t.current) {
        state.current = t.current;
        state.prefill = t.prefill;
        state.decode = t.decode;
        ++state.revision;
    }
    if (t.acknowledged && (!state.acknowledged || *state.acknowledged < *t.acknowledged)) {
        state.acknowledged = t.acknowledged;
    }
    return true;
}

}  // namespace dynaplan::decision
