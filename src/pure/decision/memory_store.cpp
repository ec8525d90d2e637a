#include "decision/memory_store.hpp"

namespace dynaplan::decision {

std::optional<ReadAnswer> MemoryStore::read() { return ReadAnswer{state_}; }

std::optional<CommitAnswer> MemoryStore::commit(const Transaction& t) {
    if (!apply(t, state_)) return CommitAnswer{CommitResult::conflict, 0, state_};
    return CommitAnswer{CommitResult::ok, state_.revision, std::nullopt};
}

}  // namespace dynaplan::decision
