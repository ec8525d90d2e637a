// Stores that refuse, lose answers, are written by others, or take their time; restarts and their ids.
#include <doctest/doctest.h>

#include "fixture.hpp"

namespace dynaplan::decision {
namespace {

using Next = ScriptedStore::Next;
using Status = Settlement::Status;

// Another coordinator publishes 9/9 as the next decision.
void rival_writes(StoredState& state) {
    Transaction t;
    t.expected_revision = state.revision;
    t.current = state.current.value_or(-1) + 1;
    t.prefill = t.decode = Replicas{9};
    REQUIRE(apply(t, state));
}

TEST_CASE("store: one decision is one commit, and a reader never sees half of it (A22)") {
    Fixture f;
    f.store.state.current = 3;
    f.store.state.acknowledged = 3;
    f.store.state.revision = 40;
    (void)f.restore();
    CHECK(f.propose(0, want(0, 2, 3)) == Lines{"published 0 as 4"});
    (void)f.complete(1, 4);
    f.store.seen.clear();
    CHECK(f.propose(2, want(1, 5, 1)) == Lines{"published 1 as 5"});
    REQUIRE(f.store.seen.size() == 1);
    CHECK(f.store.seen[0].current == 5);
    CHECK(f.store.seen[0].prefill == Replicas{5});
    CHECK(f.store.seen[0].decode == Replicas{1});
    CHECK(f.store.seen[0].records.back().decision_id == 5);
}

TEST_CASE("store: a refused write leaves store, memory and next id as they were, and is retried (A22)") {
    Started f;
    (void)f.propose(0, want(0, 2, 3));
    (void)f.complete(1, 0);
    const StoredState before = f.store.state;
    f.store.commits = {Next::refuse, Next::refuse};
    CHECK(f.propose(2, want(1, 5, 1)) == Lines{"refused 1 store"});
    CHECK(f.propose(3, want(2, 5, 1)) == Lines{"refused 2 store"});
    CHECK(f.store.state == before);
    CHECK(f.coordinator.records() == before.records);
    CHECK(f.coordinator.next_id() == 1);
    CHECK(f.propose(4, want(3, 5, 1)) == Lines{"published 3 as 1"});
}

TEST_CASE("store: a write refused over an open decision leaves that one open") {
    Started f;
    (void)f.propose(0, want(0, {}, 4));
    f.store.commits = {Next::refuse};
    CHECK(f.propose(1, want(1, {}, 2, true)) == Lines{"refused 1 store"});
    REQUIRE(f.coordinator.open());
    CHECK(f.coordinator.open()->decision_id == 0);
    CHECK(f.propose(2, want(2, {}, 2, true)) == Lines{"outcome 0 superseded", "published 2 as 1"});
}

TEST_CASE("store: a lost answer is followed by a read, which finds the decision written") {
    Started f;
    f.store.commits = {Next::lose_after};
    CHECK(f.propose(0, want(0, 2, 3)) == Lines{"refused 0 store"});
    const int reads = f.store.reads;
    CHECK(f.propose(5, want(1, 2, 3)) == Lines{"restored 0 2/3 published 5", "refused 1 unchanged"});
    CHECK(f.store.reads == reads + 1);
    CHECK(f.coordinator.next_deadline() == at(1800));
    CHECK(f.complete(6, 0) == Lines{"outcome 0 acknowledged"});
}

TEST_CASE("store: a lost answer is followed by a read, which finds nothing written") {
    Started f;
    f.store.commits = {Next::lose_before};
    CHECK(f.propose(0, want(0, 2, 3)) == Lines{"refused 0 store"});
    CHECK(f.propose(5, want(1, 2, 3)) == Lines{"published 1 as 0"});
    CHECK(f.stored() == "2/3 #0");
}

TEST_CASE("store: while the read after a lost answer fails, nothing is written and no wait begins") {
    Started f{{TimeoutFrom::first_refusal, Seconds{100}}};
    (void)f.propose(0, want(0, 1, 1));
    f.store.commits = {Next::lose_before};
    CHECK(f.propose(1, want(1, 2, 2, true)) == Lines{"refused 1 store"});
    f.store.failing_reads = 1;
    const int writes = f.store.writes;
    CHECK(f.propose(2, want(2, 2, 2)) == Lines{"refused 2 store"});
    CHECK(f.store.writes == writes);
    CHECK(f.propose(50, want(3, 2, 2)) == Lines{"refused 3 not_ready"});
    CHECK(f.propose(149, want(4, 2, 2)) == Lines{"refused 4 not_ready"});
    CHECK(f.propose(150, want(5, 2, 2)) == Lines{"outcome 0 superseded", "published 5 as 1"});
}

TEST_CASE(
    "store: what may be old is read before the next attempt, and while that fails no wait begins (V-12)") {
    Started f;
    (void)f.propose(0, want(0, {}, 4));
    f.store.state.acknowledged = 0;  // by a client, and no watch tells us
    f.store.failing_reads = 1;
    f.coordinator.doubt();
    CHECK(f.propose(1, want(1, {}, 6)) == Lines{"refused 1 store"});
    CHECK(f.propose(2, want(2, {}, 6)) == Lines{"outcome 0 acknowledged", "published 2 as 1"});
}

TEST_CASE("store: a lost acknowledgement is unavailable, and asking again settles it") {
    for (const Next how : {Next::lose_after, Next::lose_before, Next::refuse}) {
        Started f;
        (void)f.propose(0, want(0, 1, 1));
        f.store.commits = {how};
        const Settlement lost = f.coordinator.complete(0, at(5));
        CHECK(lost.status == Status::unavailable);
        CHECK(lost.events.empty());
        const Settlement again = f.coordinator.complete(0, at(6));
        CHECK(again.status == Status::done);
        CHECK(again.record->state == DecisionState::acknowledged);
        CHECK(lines_of(again.events) == Lines{"outcome 0 acknowledged"});
        CHECK(f.store.state.acknowledged == 0);
    }
}

TEST_CASE("conflict: the other's decision is adopted, and the proposal judged once more") {
    for (const bool brings_state : {true, false}) {
        Started f;
        f.store.conflict_brings_state = brings_state;
        (void)f.propose(0, want(0, 1, 1));
        (void)f.complete(1, 0);
        f.store.rival = rival_writes;
        f.store.commits = {Next::overtake};
        CHECK(f.propose(2, want(1, 2, 2)) == Lines{"restored 1 9/9 published 0", "refused 1 not_ready"});
        CHECK(f.stored() == "9/9 #1");
        CHECK(f.coordinator.next_id() == 2);
        CHECK(f.complete(3, 1) == Lines{"outcome 1 acknowledged"});
        CHECK(f.propose(4, want(2, 2, 2)) == Lines{"published 2 as 2"});
    }
}

TEST_CASE("conflict: an open decision that the other replaced is superseded") {
    Started f;
    (void)f.propose(0, want(0, 1, 1));
    f.store.rival = rival_writes;
    f.store.commits = {Next::overtake};
    CHECK(f.propose(2, want(1, 9, 9, true)) ==
          Lines{"outcome 0 superseded", "restored 1 9/9 published 0", "refused 1 unchanged"});
    CHECK(f.coordinator.find(0)->state == DecisionState::superseded);
}

TEST_CASE("conflict: twice in one proposal is the answer, and the next one reads first") {
    Started f;
    (void)f.propose(0, want(0, 1, 1));
    f.store.rival = rival_writes;
    f.store.commits = {Next::overtake, Next::overtake};
    CHECK(f.propose(1, want(1, 2, 2, true)) ==
          Lines{"outcome 0 superseded", "restored 1 9/9 published 0", "refused 1 conflict"});
    CHECK(f.stored() == "9/9 #2");
    const int reads = f.store.reads;
    const int writes = f.store.writes;
    CHECK(f.propose(2, want(2, 2, 2, true)) == Lines{"outcome 1 superseded", "restored 2 9/9 published 0",
                                                     "outcome 2 superseded", "published 2 as 3"});
    CHECK(f.store.reads == reads + 1);
    CHECK(f.store.writes == writes + 1);
}

TEST_CASE("ids: after a restart they go on, whatever the store remembers") {
    Started f;
    (void)f.propose(0, want(0, 1, 1));
    (void)f.complete(1, 0);
    (void)f.propose(2, want(1, 2, 2));
    (void)f.complete(3, 1);
    Fixture g;
    g.store.state = f.store.state;
    CHECK(g.restore(60) == Lines{"restored 1 2/2 acknowledged 58"});
    CHECK(g.propose(61, want(0, 2, 2)) == Lines{"refused 0 unchanged"});
    CHECK(g.propose(62, want(1, 3, 2)) == Lines{"published 1 as 2"});
}

TEST_CASE("ids: a stale acknowledgement in an emptied store approves nothing (V-3)") {
    Fixture f;
    f.store.state.acknowledged = 7;
    CHECK(f.restore() == Lines{});
    CHECK(f.coordinator.complete(5, at(0)).status == Status::never_published);
    CHECK(f.propose(0, want(0, 1, 1)) == Lines{"published 0 as 8"});
    CHECK(f.propose(1, want(1, 2, 2)) == Lines{"refused 1 not_ready"});
}

TEST_CASE("ids: a store that was wiped while we run does not bring numbers back") {
    Started f;
    (void)f.propose(0, want(0, 1, 1));
    (void)f.complete(1, 0);
    (void)f.propose(2, want(1, 2, 2));
    f.store.state = StoredState{};
    CHECK(lines_of(f.coordinator.observe(f.store.state, at(3), wall(3))) == Lines{"outcome 1 superseded"});
    CHECK(f.propose(4, want(2, 2, 2)) == Lines{"published 2 as 2"});
}

TEST_CASE("restore: keys that another coordinator left are adopted as a pending decision") {
    Fixture f;
    f.store.state.current = 4;
    f.store.state.prefill = Replicas{2};
    f.store.state.revision = 11;
    CHECK(f.restore() == Lines{"restored 4 2/- published 0"});
    CHECK_FALSE(f.coordinator.open()->reason);
    CHECK_FALSE(f.coordinator.open()->published_wall_ms);
    CHECK(f.coordinator.next_deadline() == at(1800));
    CHECK(f.complete(5, 4) == Lines{"outcome 4 acknowledged"});
    CHECK(f.propose(6, want(0, {}, 3)) == Lines{"published 0 as 5"});
    CHECK(f.stored() == "2/3 #5");
}

TEST_CASE("restore: until the store has been read nothing is published and nobody is turned away for good") {
    Fixture f;
    f.store.failing_reads = 1;
    CHECK(f.propose(0, want(0, 1, 1)) == Lines{"refused 0 store"});
    CHECK(f.coordinator.complete(0, at(0)).status == Status::unavailable);
    CHECK(f.restore(1) == Lines{});
    CHECK_FALSE(f.coordinator.restored());
    CHECK(f.coordinator.fail(5, at(1)).status == Status::unavailable);
    CHECK(f.restore(2) == Lines{});
    CHECK(f.coordinator.restored());
    CHECK(f.propose(3, want(1, 1, 1)) == Lines{"published 1 as 0"});
}

TEST_CASE("stand-by: nothing is written, the list stays readable, a take-over continues the ids") {
    Started f;
    (void)f.propose(0, want(0, 1, 1));
    f.coordinator.stand_by();
    CHECK(f.propose(1, want(1, 2, 2)) == Lines{"refused 1 store"});
    CHECK(f.coordinator.complete(0, at(1)).status == Status::unavailable);
    CHECK(f.coordinator.records().size() == 1);
    rival_writes(f.store.state);  // by the other leader
    CHECK(f.restore(50) == Lines{"outcome 0 superseded", "restored 1 9/9 published 0"});
    CHECK(f.coordinator.next_id() == 2);
}

TEST_CASE("take-over: refusals of an earlier term do not count towards the time-out") {
    Started f{{TimeoutFrom::first_refusal, Seconds{100}}};
    (void)f.propose(0, want(0, 1, 1));
    CHECK(f.propose(1, want(1, 2, 2)) == Lines{"refused 1 not_ready"});
    f.coordinator.stand_by();
    CHECK(f.restore(200) == Lines{"restored 0 1/1 published 100"});
    CHECK(f.propose(201, want(2, 2, 2)) == Lines{"refused 2 not_ready"});
    CHECK(f.propose(301, want(3, 2, 2)) == Lines{"outcome 0 superseded", "published 3 as 1"});
}

TEST_CASE("slow store: calls queue behind the one under way and end in order") {
    Fixture f;
    f.store.answers_later = true;
    CHECK(f.restore() == Lines{});
    CHECK_FALSE(f.coordinator.restored());
    CHECK(lines_of(f.coordinator.read_answered(*f.store.late_read, at(1))) == Lines{});
    CHECK(f.coordinator.restored());

    CHECK(f.propose(2, want(0, 1, 1)) == Lines{});
    CHECK(f.propose(3, want(1, 2, 2)) == Lines{});
    const Settlement deferred = f.coordinator.complete(0, at(3));
    CHECK(deferred.status == Status::deferred);
    CHECK(f.store.writes == 1);
    // The first publication is answered: the second proposal is judged, the acknowledgement starts.
    CHECK(lines_of(f.coordinator.commit_answered(*f.store.late_commit, at(4))) ==
          Lines{"published 0 as 0", "refused 1 not_ready"});
    CHECK(f.store.writes == 2);
    CHECK(f.coordinator.take_settled().empty());
    CHECK(lines_of(f.coordinator.commit_answered(*f.store.late_commit, at(5))) ==
          Lines{"outcome 0 acknowledged"});
    const auto settled = f.coordinator.take_settled();
    REQUIRE(settled.size() == 1);
    CHECK(settled[0].ticket == deferred.ticket);
    CHECK(settled[0].status == Status::done);
    CHECK(settled[0].record->state == DecisionState::acknowledged);
}

TEST_CASE("slow store: the time-out counts from the call, not from the answer") {
    Fixture f;
    f.store.answers_later = true;
    (void)f.restore();
    (void)f.coordinator.read_answered(*f.store.late_read, at(0));
    (void)f.propose(10, want(0, 1, 1));
    (void)f.coordinator.commit_answered(*f.store.late_commit, at(14));
    CHECK(f.coordinator.next_deadline() == at(1810));
}

TEST_CASE("slow store: what a watch saw meanwhile is read again after the answer") {
    Fixture f;
    f.store.answers_later = true;
    (void)f.restore();
    (void)f.coordinator.read_answered(*f.store.late_read, at(0));
    const StoredState old = f.store.state;
    (void)f.propose(1, want(0, 1, 1));
    CHECK(lines_of(f.coordinator.observe(old, at(2), wall(2))) == Lines{});
    CHECK(lines_of(f.coordinator.commit_answered(*f.store.late_commit, at(3))) == Lines{"published 0 as 0"});
    CHECK(lines_of(f.coordinator.read_answered(*f.store.late_read, at(4))) == Lines{});
    CHECK(f.coordinator.open()->decision_id == 0);
}

TEST_CASE("slow store: leadership lost while the restoring read is under way is not taken back") {
    Fixture f;
    f.store.answers_later = true;
    (void)f.restore();
    f.coordinator.stand_by();
    (void)f.coordinator.read_answered(*f.store.late_read, at(1));
    CHECK_FALSE(f.coordinator.restored());
}

TEST_CASE("slow store: the queue is bounded, and what does not fit is refused") {
    Fixture f;
    f.store.answers_later = true;
    (void)f.restore();
    for (std::size_t i = 1; i < Coordinator::work_max; ++i) {
        CHECK(f.propose(1, want(static_cast<ProposalId>(i), 1, 1)) == Lines{});
    }
    CHECK(f.propose(1, want(999, 1, 1)) == Lines{"refused 999 store"});
    CHECK(f.coordinator.complete(0, at(1)).status == Status::unavailable);
}

TEST_CASE("slow store: an answer to a call from before a load is ignored, and the store is read again") {
    Fixture f;
    (void)f.restore();
    f.store.answers_later = true;
    (void)f.propose(1, want(0, 1, 1));
    StateWriter writer;
    writer(f.coordinator);
    const std::string bytes = writer.take();

    Fixture g;
    g.store.state = f.store.state;  // the commit did arrive
    StateReader reader{bytes};
    reader(g.coordinator);
    REQUIRE(reader.at_end());
    CHECK(lines_of(g.coordinator.commit_answered(*f.store.late_commit, at(2))) == Lines{});
    CHECK(g.propose(5, want(1, 1, 1)) == Lines{"restored 0 1/1 published 4", "refused 1 unchanged"});
}

}  // namespace
}  // namespace dynaplan::decision
