// Decisions kept in memory: for tests, replay and the step protocol. Answers at once and never fails.
#pragma once

#include "core/archive.hpp"
#include "decision/store.hpp"

namespace dynaplan::decision {

class MemoryStore final : public DecisionStore {
public:
    [[nodiscard]] std::optional<ReadAnswer> read() override;
    [[nodiscard]] std::optional<CommitAnswer> commit(const Transaction&) override;
    [[nodiscard]] const StoredState& state() const { return state_; }

    template <class Archive>
    void archive(Archive& a) {
        a(state_);
    }

private:
    StoredState state_;
};

}  // namespace dynaplan::decision
