// What every decision store has to do alike (decision/store.hpp), run against each row of store_rows().
#include <utility>

#include <doctest/doctest.h>

#include "store_host.hpp"

namespace dynaplan::connector {

namespace {

using port::CommitResult;
using port::DecisionRecord;
using port::StoredState;
using port::Transaction;

// Runs the case once a row, each on an empty store.
template <class Case>
void on_each_store(Case run) {
    for (const StoreRow& row : store_rows()) {
        SUBCASE(row.name.c_str()) {
            const auto host = row.make();
            run(*host, row);
        }
    }
}

StoredState state_of(StoreHost& host) {
    const auto answer = host.read();
    REQUIRE(answer.state);
    return *answer.state;
}

DecisionRecord record(DecisionId id, DecisionState state = DecisionState::published) {
    DecisionRecord r;
    r.decision_id = id;
    r.proposal = id + 100;
    r.prefill = Replicas{id + 1};
    r.decode = Replicas{id + 2};
    r.reason = Reason::scale_down;
    r.state = state;
    r.published_wall_ms = 1'776'800'000'123;
    r.timeout = Seconds{0.1 + 1800.0};  // no short decimal fraction: it has to come back to the last bit
    r.forced = id % 2 == 1;
    r.why_json = "{\"why\":\"caf\xc3\xa9 \\\"" + std::to_string(id) + "\\\"\"}";
    return r;
}

Transaction decision(std::uint64_t revision, DecisionId id) {
    Transaction t;
    t.expected_revision = revision;
    t.current = id;
    t.prefill = Replicas{id + 1};
    t.decode = Replicas{id + 2};
    t.put.push_back(record(id));
    return t;
}

std::uint64_t must_commit(StoreHost& host, const Transaction& t) {
    const auto answer = host.commit(t);
    REQUIRE(answer.result == CommitResult::ok);
    return answer.revision;
}

}  // namespace

TEST_CASE("decision store: an empty store has revision 0 and nothing else") {
    on_each_store([](StoreHost& host, const StoreRow&) { CHECK(state_of(host) == StoredState{}); });
}

TEST_CASE("decision store: a committed decision is read back whole") {
    on_each_store([](StoreHost& host, const StoreRow&) {
        const std::uint64_t revision = must_commit(host, decision(0, 0));
        CHECK(revision != 0);
        const StoredState state = state_of(host);
        CHECK(state.revision == revision);
        CHECK(state.current == 0);
        CHECK(state.prefill == Replicas{1});
        CHECK(state.decode == Replicas{2});
        CHECK_FALSE(state.acknowledged);
        REQUIRE(state.records.size() == 1);
        CHECK(state.records[0] == record(0));
    });
}

TEST_CASE("decision store: what a decision leaves open stays absent") {
    on_each_store([](StoreHost& host, const StoreRow&) {
        Transaction t;
        t.current = 0;
        t.decode = Replicas{0};
        t.put.emplace_back();
        must_commit(host, t);
        const StoredState state = state_of(host);
        CHECK_FALSE(state.prefill);
        CHECK(state.decode == Replicas{0});
        REQUIRE(state.records.size() == 1);
        CHECK(state.records[0] == DecisionRecord{});
    });
}

TEST_CASE("decision store: a transaction that expects another revision stores nothing") {
    on_each_store([](StoreHost& host, const StoreRow&) {
        const std::uint64_t revision = must_commit(host, decision(0, 0));
        const StoredState before = state_of(host);
        Transaction late = decision(0, 1);
        late.acknowledged = 0;
        late.drop_below = 1;
        const auto answer = host.commit(late);
        CHECK(answer.result == CommitResult::conflict);
        if (answer.state) CHECK(*answer.state == before);
        CHECK(state_of(host) == before);
        Transaction early = decision(revision + 1000, 1);
        CHECK(host.commit(early).result == CommitResult::conflict);
        CHECK(state_of(host) == before);
    });
}

TEST_CASE("decision store: the revision changes with each decision and with nothing else") {
    on_each_store([](StoreHost& host, const StoreRow&) {
        const std::uint64_t first = must_commit(host, decision(0, 0));
        Transaction t;
        t.expected_revision = first;
        t.acknowledged = 0;
        t.put.push_back(record(0, DecisionState::acknowledged));
        CHECK(must_commit(host, t) == first);
        CHECK(state_of(host).revision == first);
        const std::uint64_t second = must_commit(host, decision(first, 1));
        CHECK(second != first);
        CHECK(state_of(host).revision == second);
    });
}

TEST_CASE("decision store: an acknowledgement changes the record and leaves the decision as it is") {
    on_each_store([](StoreHost& host, const StoreRow&) {
        Transaction t;
        t.expected_revision = must_commit(host, decision(0, 0));
        t.acknowledged = 0;
        t.put.push_back(record(0, DecisionState::acknowledged));
        must_commit(host, t);
        const StoredState state = state_of(host);
        CHECK(state.acknowledged == 0);
        CHECK(state.current == 0);
        CHECK(state.prefill == Replicas{1});
        CHECK(state.decode == Replicas{2});
        REQUIRE(state.records.size() == 1);
        CHECK(state.records[0] == record(0, DecisionState::acknowledged));
    });
}

TEST_CASE("decision store: the acknowledged id is raised and never falls") {
    on_each_store([](StoreHost& host, const StoreRow&) {
        std::uint64_t revision = 0;
        for (const DecisionId id : {0, 1, 2, 3}) revision = must_commit(host, decision(revision, id));
        Transaction t;
        t.expected_revision = revision;
        t.acknowledged = 2;
        must_commit(host, t);
        t.acknowledged = 1;
        must_commit(host, t);
        CHECK(state_of(host).acknowledged == 2);
        t.acknowledged = 3;
        must_commit(host, t);
        CHECK(state_of(host).acknowledged == 3);
    });
}

TEST_CASE("decision store: records are kept in the order of their ids, and replaced by id") {
    on_each_store([](StoreHost& host, const StoreRow&) {
        Transaction t = decision(0, 5);
        for (const DecisionId id : {2, 4, 3}) t.put.push_back(record(id));
        const std::uint64_t revision = must_commit(host, t);
        Transaction change;
        change.expected_revision = revision;
        change.put = {record(3, DecisionState::failed)};
        must_commit(host, change);
        const auto records = state_of(host).records;
        REQUIRE(records.size() == 4);
        CHECK(records[0] == record(2));
        CHECK(records[1] == record(3, DecisionState::failed));
        CHECK(records[2] == record(4));
        CHECK(records[3] == record(5));
    });
}

// A store may keep what it need not: only what is not below the bound is asked for.
TEST_CASE("decision store: no record at or above drop_below is lost") {
    on_each_store([](StoreHost& host, const StoreRow&) {
        std::uint64_t revision = 0;
        for (DecisionId id = 0; id < 10; ++id) {
            Transaction t = decision(revision, id);
            t.drop_below = id - 3;
            revision = must_commit(host, t);
        }
        std::vector<DecisionRecord> wanted;
        for (const DecisionId id : {6, 7, 8, 9}) wanted.push_back(record(id));
        auto records = state_of(host).records;
        std::erase_if(records, [](const DecisionRecord& r) { return r.decision_id < 6; });
        CHECK(records == wanted);
    });
}

TEST_CASE("decision store: one transaction closes a decision and publishes the next") {
    on_each_store([](StoreHost& host, const StoreRow&) {
        Transaction t = decision(must_commit(host, decision(0, 0)), 1);
        t.put.push_back(record(0, DecisionState::superseded));
        must_commit(host, t);
        const StoredState state = state_of(host);
        CHECK(state.current == 1);
        REQUIRE(state.records.size() == 2);
        CHECK(state.records[0] == record(0, DecisionState::superseded));
        CHECK(state.records[1] == record(1));
    });
}

TEST_CASE("decision store: a durable store is the same for a new process") {
    on_each_store([](StoreHost& host, const StoreRow& row) {
        if (!row.durable) return;
        std::uint64_t revision = 0;
        for (DecisionId id = 0; id < 20; ++id) {
            Transaction t = decision(revision, id);
            if (id > 0) t.acknowledged = id - 1;
            t.drop_below = id - 8;
            revision = must_commit(host, t);
            const StoredState before = state_of(host);
            host.reopen();
            CHECK(state_of(host) == before);
        }
        CHECK(host.commit(decision(0, 20)).result == CommitResult::conflict);
        CHECK(host.commit(decision(revision, 20)).result == CommitResult::ok);
    });
}

}  // namespace dynaplan::connector
