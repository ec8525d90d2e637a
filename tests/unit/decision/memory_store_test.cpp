#include "decision/memory_store.hpp"

#include <doctest/doctest.h>

#include "fixture.hpp"

namespace dynaplan::decision {
namespace {

Transaction first_decision() {
    Transaction t;
    t.current = 0;
    t.decode = Replicas{3};
    DecisionRecord record;
    record.decode = Replicas{3};
    t.put.push_back(record);
    return t;
}

TEST_CASE("memory store: a transaction is stored whole and moves the revision") {
    MemoryStore store;
    const auto answer = store.commit(first_decision());
    REQUIRE(answer);
    CHECK(answer->result == CommitResult::ok);
    CHECK(answer->revision == 1);
    const auto read = store.read();
    REQUIRE(read);
    REQUIRE(read->state);
    CHECK(read->state->current == 0);
    CHECK_FALSE(read->state->prefill);
    CHECK(read->state->decode == Replicas{3});
    CHECK(read->state->records.size() == 1);
}

TEST_CASE("memory store: a failed guard stores nothing and brings the state") {
    MemoryStore store;
    (void)store.commit(first_decision());
    const StoredState before = store.state();
    Transaction late = first_decision();
    late.current = 1;
    const auto answer = store.commit(late);
    REQUIRE(answer);
    CHECK(answer->result == CommitResult::conflict);
    CHECK(answer->state == before);
    CHECK(store.state() == before);
}

TEST_CASE("memory store: an acknowledgement keeps the revision and never falls") {
    MemoryStore store;
    (void)store.commit(first_decision());
    Transaction t;
    t.expected_revision = 1;
    t.acknowledged = 5;
    CHECK(store.commit(t)->revision == 1);
    t.acknowledged = 2;
    CHECK(store.commit(t)->result == CommitResult::ok);
    CHECK(store.state().acknowledged == 5);
    CHECK(store.state().decode == Replicas{3});
}

TEST_CASE("memory store: records are replaced by id, kept in order and dropped below a bound") {
    MemoryStore store;
    Transaction t;
    for (const DecisionId id : {4, 2, 3}) {
        DecisionRecord record;
        record.decision_id = id;
        t.put.push_back(record);
    }
    t.put.push_back(t.put.back());
    t.put.back().state = DecisionState::failed;
    t.drop_below = 3;
    CHECK(store.commit(t)->result == CommitResult::ok);
    const auto& records = store.state().records;
    REQUIRE(records.size() == 2);
    CHECK(records[0].decision_id == 3);
    CHECK(records[0].state == DecisionState::failed);
    CHECK(records[1].decision_id == 4);
}

TEST_CASE("memory store: saved and loaded it is the same store") {
    MemoryStore store;
    Coordinator coordinator{store};
    (void)coordinator.restore(at(0), wall(0));
    (void)coordinator.propose(want(0, 2, 3), at(1), wall(1), "{}");
    (void)coordinator.complete(0, at(2));
    StateWriter writer;
    writer(store);
    const std::string bytes = writer.take();
    MemoryStore other;
    StateReader reader{bytes};
    reader(other);
    CHECK(reader.at_end());
    CHECK(other.state() == store.state());
}

}  // namespace
}  // namespace dynaplan::decision
