// The port behind which decisions are kept: memory, file, etcd. A store knows nothing of the rules; it keeps
// a state and replaces parts of it in one transaction, or not at all.
//
// A store may answer at once or later. At once: read() and commit() return the answer. Later: they return
// nothing, and whoever owns the store hands the answer to Coordinator::read_answered / commit_answered,
// exactly once per call; a store that waits for a network gives up by itself and then answers `failed` or
// `unknown`. The coordinator has one call under way at most.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/event.hpp"
#include "core/units.hpp"
#include "decision/record.hpp"

namespace dynaplan::decision {

// Everything a store holds. What it cannot parse it leaves absent.
struct StoredState {
    std::uint64_t revision = 0;         // changes exactly when the decision id is written; 0: never written
    std::optional<DecisionId> current;  // id of the newest decision
    std::optional<DecisionId> acknowledged;  // highest id ever acknowledged, as far as the store knows
    std::optional<Replicas> prefill;         // wanted counts of the newest decision; absent: never set
    std::optional<Replicas> decode;
    std::vector<DecisionRecord> records;  // oldest first; `state` is what the store says now. May lack the
                                          // newest one, where a foreign coordinator wrote no record
    bool operator==(const StoredState&) const = default;
    template <class Archive>
    void archive(Archive& a) {
        a(revision, current, acknowledged, prefill, decode, records);
    }
};

// All or nothing, guarded: refused as `conflict` unless the store's revision is the expected one.
struct Transaction {
    std::uint64_t expected_revision = 0;
    std::vector<DecisionRecord> put;    // inserted, or replacing the one of the same id
    std::optional<DecisionId> current;  // set: a new decision, whose counts are the next two
    std::optional<Replicas> prefill;    // every known count; written together with `current` only
    std::optional<Replicas> decode;
    std::optional<DecisionId> acknowledged;  // set: raise the acknowledged id to this
    DecisionId drop_below = 0;               // records of smaller ids need not be kept
};

enum class CommitResult : std::uint8_t {
    ok,        // all of it is stored, durably
    conflict,  // the guard failed, nothing is stored
    failed,    // nothing is stored
    unknown,   // the answer was lost: all of it is stored, or nothing
};
struct CommitAnswer {
    CommitResult result{};
    std::uint64_t revision = 0;        // after an ok
    std::optional<StoredState> state;  // on a conflict, where the same round trip brought it
};
struct ReadAnswer {
    std::optional<StoredState> state;  // absent: the read failed
};

// The transaction's effect on a state; false, and nothing changed, when the guard fails. Stores and the
// coordinator's own copy go through it, so that all of them mean the same.
[[nodiscard]] bool apply(const Transaction&, StoredState&);

class DecisionStore {
public:
    DecisionStore() = default;
    virtual ~DecisionStore() = default;
    DecisionStore(const DecisionStore&) = delete;
    DecisionStore& operator=(const DecisionStore&) = delete;

    [[nodiscard]] virtual std::optional<ReadAnswer> read() = 0;
    [[nodiscard]] virtual std::optional<CommitAnswer> commit(const Transaction&) = 0;
};

}  // namespace dynaplan::decision
