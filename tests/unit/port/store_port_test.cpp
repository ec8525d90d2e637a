#include <optional>

#include <doctest/doctest.h>

#include "port/decision_store.hpp"

namespace dynaplan::port {

namespace {

// An adapter that knows the port alone.
class OneTransaction final : public DecisionStore {
public:
    std::optional<ReadAnswer> read() override { return ReadAnswer{state_}; }
    std::optional<CommitAnswer> commit(const Transaction& t) override {
        if (!apply(t, state_)) return CommitAnswer{CommitResult::conflict, 0, state_};
        return CommitAnswer{CommitResult::ok, state_.revision, std::nullopt};
    }

private:
    StoredState state_;
};

}  // namespace

TEST_CASE("port: a store written against the port alone is one for the pure layers") {
    OneTransaction adapter;
    decision::DecisionStore& store = adapter;
    decision::Transaction t;
    t.current = 4;
    CHECK(store.commit(t)->result == decision::CommitResult::ok);
    CHECK(store.commit(t)->result == decision::CommitResult::conflict);
    CHECK(store.read()->state->current == 4);
}

}  // namespace dynaplan::port
