// From a proposal to its end: publication, refusals, the scheduler's answers, what cancels, the listing.
#include <doctest/doctest.h>

#include "fixture.hpp"

namespace dynaplan::decision {
namespace {

using Status = Settlement::Status;

TEST_CASE("decisions: the first proposal is published as decision 0, the next waits for its end") {
    Started f;
    CHECK(f.propose(5, want(0, 3, 5)) == Lines{"published 0 as 0"});
    CHECK(f.stored() == "3/5 #0");
    CHECK(f.propose(10, want(1, 4, 5)) == Lines{"refused 1 not_ready"});
    CHECK(f.stored() == "3/5 #0");
    CHECK(f.complete(20, 0) == Lines{"outcome 0 acknowledged"});
    CHECK(f.propose(25, want(2, 4, 5)) == Lines{"published 2 as 1"});
    CHECK(f.stored() == "4/5 #1");
}

TEST_CASE("decisions: an equal target is unchanged, whoever is pending, and writes nothing") {
    Started f;
    (void)f.propose(0, want(0, 3, 5));
    const int writes = f.store.writes;
    CHECK(f.propose(1, want(1, 3, 5)) == Lines{"refused 1 unchanged"});
    CHECK(f.propose(1, want(2, 3, {})) == Lines{"refused 2 unchanged"});
    CHECK(f.propose(1, want(3, {}, 5)) == Lines{"refused 3 unchanged"});
    CHECK(f.propose(1, want(4, {}, {})) == Lines{"refused 4 unchanged"});
    CHECK(f.store.writes == writes);
}

TEST_CASE("decisions: a role that was never set stays absent, one that was set is carried along") {
    Started f;
    CHECK(f.propose(0, want(0, 4, {})) == Lines{"published 0 as 0"});
    CHECK(f.stored() == "4/- #0");
    (void)f.complete(1, 0);
    CHECK(f.propose(2, want(1, {}, 7)) == Lines{"published 1 as 1"});
    CHECK(f.stored() == "4/7 #1");
    const DecisionRecord* record = f.coordinator.find(1);
    REQUIRE(record);
    CHECK(record->prefill == Replicas{4});
    CHECK(record->decode == Replicas{7});
}

TEST_CASE("decisions: zero is a target and differs from never set") {
    Started f;
    CHECK(f.propose(0, want(0, 0, 0)) == Lines{"published 0 as 0"});
    CHECK(f.stored() == "0/0 #0");
    (void)f.complete(1, 0);
    CHECK(f.propose(2, want(1, 0, 0)) == Lines{"refused 1 unchanged"});
}

TEST_CASE("decisions: the record keeps what was decided, why and when") {
    Started f;
    (void)f.coordinator.propose(want(9, 2, 5), at(60), wall(60), R"({"decode":{"ready":4}})");
    const DecisionRecord* record = f.coordinator.open();
    REQUIRE(record);
    CHECK(record->decision_id == 0);
    CHECK(record->proposal == 9);
    CHECK(record->reason == Reason::scale_up);
    CHECK(record->state == DecisionState::published);
    CHECK(record->published_wall_ms == wall(60));
    CHECK(record->timeout == Seconds{1800});
    CHECK(record->why_json == R"({"decode":{"ready":4}})");
    CHECK_FALSE(record->forced);
    CHECK(f.store.state.records.back() == *record);
}

TEST_CASE("decisions: events carry the time of the call that brought them") {
    Started f;
    const Events events = f.coordinator.propose(want(0, 1, 1), at(12.5), wall(12.5));
    REQUIRE(events.size() == 1);
    CHECK(events[0].at == at(12.5));
}

TEST_CASE("decisions: an id that was never published is refused, an old one accepted again and again") {
    Started f;
    CHECK(f.coordinator.complete(0, at(1)).status == Status::never_published);
    (void)f.propose(1, want(0, 1, 1));
    CHECK(f.coordinator.complete(1, at(2)).status == Status::never_published);
    CHECK(f.coordinator.fail(-1, at(2)).status == Status::never_published);

    const Settlement first = f.coordinator.complete(0, at(3));
    CHECK(first.status == Status::done);
    REQUIRE(first.record);
    CHECK(first.record->state == DecisionState::acknowledged);
    const int writes = f.store.writes;
    const Settlement again = f.coordinator.complete(0, at(4));
    CHECK(again.status == Status::done);
    CHECK(again.events.empty());
    REQUIRE(again.record);
    CHECK(again.record->state == DecisionState::acknowledged);
    // Acknowledged is terminal: a later failure of the same decision changes nothing.
    const Settlement failed = f.coordinator.fail(0, at(5));
    CHECK(failed.status == Status::done);
    CHECK(failed.events.empty());
    CHECK(failed.record->state == DecisionState::acknowledged);
    CHECK(f.store.writes == writes);
}

TEST_CASE("decisions: an old acknowledgement does not end the open decision") {
    Started f;
    (void)f.propose(0, want(0, 1, 1));
    (void)f.complete(1, 0);
    (void)f.propose(2, want(1, 2, 2));
    CHECK(f.complete(3, 0) == Lines{});
    CHECK(f.coordinator.open()->decision_id == 1);
    CHECK(f.propose(4, want(2, 3, 3)) == Lines{"refused 2 not_ready"});
}

TEST_CASE("decisions: a failed one frees the way, also for the same target, under a new id") {
    Started f;
    (void)f.propose(0, want(0, 2, 2));
    CHECK(f.fail(5, 0) == Lines{"outcome 0 failed"});
    CHECK_FALSE(f.coordinator.open());
    CHECK(f.propose(6, want(1, 2, 2)) == Lines{"published 1 as 1"});
    CHECK_FALSE(f.coordinator.find(1)->forced);
}

TEST_CASE("decisions: a proposal that cancels pending capacity does not wait for the open one (A15)") {
    Started f;
    (void)f.propose(0, want(0, {}, 4));
    CHECK(f.propose(600, want(1, {}, 3)) == Lines{"refused 1 not_ready"});
    CHECK(f.propose(605, want(2, {}, 1, true)) == Lines{"outcome 0 superseded", "published 2 as 1"});
    CHECK(f.stored() == "-/1 #1");
    CHECK(f.coordinator.find(0)->state == DecisionState::superseded);
    CHECK(f.store.state.records.front().state == DecisionState::superseded);
    // The superseded one may still be answered; nothing comes of it.
    CHECK(f.complete(610, 0) == Lines{});
    CHECK(f.coordinator.open()->decision_id == 1);
}

TEST_CASE("decisions: a proposal that cancels what already stands is unchanged") {
    Started f;
    (void)f.propose(0, want(0, {}, 4));
    CHECK(f.propose(1, want(1, {}, 4, true)) == Lines{"refused 1 unchanged"});
}

TEST_CASE("decisions: the listing keeps the last hundred and more, and pages through them") {
    Started f;
    const auto count = static_cast<int>(Coordinator::records_kept) + 20;
    for (int i = 0; i < count; ++i) {
        (void)f.propose(i, want(i, i, i));
        (void)f.complete(i, i);
    }
    const auto& records = f.coordinator.records();
    CHECK(records.size() == Coordinator::records_kept);
    CHECK(records.size() >= 100);
    CHECK(f.store.state.records.size() == records.size());
    CHECK(records.front().decision_id == 20);
    CHECK(records.back().decision_id == count - 1);

    CHECK(f.coordinator.first_after(-1)->decision_id == 20);
    CHECK(f.coordinator.first_after(20)->decision_id == 21);
    CHECK(f.coordinator.first_after(count - 1) == nullptr);
    CHECK(f.coordinator.find(19) == nullptr);

    const Settlement forgotten = f.coordinator.complete(3, at(count));
    CHECK(forgotten.status == Status::done);
    CHECK_FALSE(forgotten.record);
}

TEST_CASE("decisions: saved state goes on with ids, records and the running time-out") {
    Started f;
    (void)f.propose(0, want(0, 1, 1));
    (void)f.complete(1, 0);
    (void)f.propose(100, want(1, 2, 2));
    StateWriter writer;
    writer(f.coordinator);
    const std::string bytes = writer.take();

    ScriptedStore store;
    store.state = f.store.state;
    Coordinator other{store};
    StateReader reader{bytes};
    reader(other);
    REQUIRE(reader.at_end());
    CHECK(other.restored());
    CHECK(other.records() == f.coordinator.records());
    CHECK(other.next_id() == 2);
    CHECK(other.next_deadline() == at(1900));
    CHECK(lines_of(other.tick(at(1900))) == Lines{"outcome 1 timed_out"});
    CHECK(lines_of(other.propose(want(2, 2, 2), at(1901), wall(1901))) == Lines{"published 2 as 2"});
}

}  // namespace
}  // namespace dynaplan::decision
