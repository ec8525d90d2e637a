// A memory store whose next answers can be spoilt, for the coordinator's tests: refused writes, lost answers,
// a second coordinator that was faster, answers that come later. It also keeps what a reader would have seen
// after every write.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "decision/memory_store.hpp"

namespace dynaplan::decision {

class ScriptedStore final : public DecisionStore {
public:
    enum class Next : std::uint8_t {
        refuse,       // nothing stored, and it says so
        lose_after,   // stored, the answer is lost
        lose_before,  // not stored, the answer is lost
        overtake,     // another coordinator writes first, see `rival`
    };
    std::deque<Next> commits;           // what happens to the next commits; empty: they work
    int failing_reads = 0;              // so many reads fail
    bool answers_later = false;         // answers wait in `late_read`, `late_commit`
    bool conflict_brings_state = true;  // like etcd's failure branch
    std::function<void(StoredState&)> rival;
    std::optional<ReadAnswer> late_read;
    std::optional<CommitAnswer> late_commit;
    std::vector<StoredState> seen;  // after each write
    int reads = 0;
    int writes = 0;  // commits asked for

    std::optional<ReadAnswer> read() override {
        ++reads;
        ReadAnswer answer{state};
        if (failing_reads > 0) {
            --failing_reads;
            answer.state.reset();
        }
        if (!answers_later) return answer;
        late_read = std::move(answer);
        return std::nullopt;
    }

    std::optional<CommitAnswer> commit(const Transaction& t) override {
        ++writes;
        CommitAnswer answer = carry_out(t);
        if (!answers_later) return answer;
        late_commit = std::move(answer);
        return std::nullopt;
    }

    StoredState state;

private:
    CommitAnswer carry_out(const Transaction& t) {
        std::optional<Next> next;
        if (!commits.empty()) {
            next = commits.front();
            commits.pop_front();
        }
        if (next == Next::refuse) return {CommitResult::failed, 0, std::nullopt};
        if (next == Next::lose_before) return {CommitResult::unknown, 0, std::nullopt};
        if (next == Next::overtake) {
            rival(state);
            seen.push_back(state);
        }
        if (!apply(t, state)) {
            return {CommitResult::conflict, 0, conflict_brings_state ? std::optional{state} : std::nullopt};
        }
        seen.push_back(state);
        if (next == Next::lose_after) return {CommitResult::unknown, 0, std::nullopt};
        return {CommitResult::ok, state.revision, std::nullopt};
    }
};

}  // namespace dynaplan::decision
