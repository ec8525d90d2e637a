// Time-outs, counted from the publication and from the first refusal, and what a restart makes of them.
#include <doctest/doctest.h>

#include <limits>

#include "fixture.hpp"

namespace dynaplan::decision {
namespace {

constexpr CoordinatorConfig reference{TimeoutFrom::first_refusal, Seconds{1800}};

TEST_CASE(
    "time-out from publication: the deadline ends the wait whether or not anything was proposed (A15)") {
    Started f;
    CHECK_FALSE(f.coordinator.next_deadline());
    (void)f.propose(100, want(0, 1, 1));
    CHECK(f.coordinator.next_deadline() == at(1900));
    CHECK(f.tick(1899.9) == Lines{});
    CHECK(f.tick(1900) == Lines{"outcome 0 timed_out"});
    CHECK(f.store.state.records.back().state == DecisionState::timed_out);
    CHECK_FALSE(f.coordinator.next_deadline());
    CHECK(f.tick(1901) == Lines{});
    CHECK(f.propose(1902, want(1, 1, 1)) == Lines{"published 1 as 1"});  // the same target, a new id
    CHECK(f.coordinator.find(1)->forced);
    CHECK(f.coordinator.find(0)->state == DecisionState::timed_out);
}

TEST_CASE("time-out from publication: refused proposals do not move it") {
    Started f;
    (void)f.propose(0, want(0, 1, 1));
    for (const double t : {500.0, 1000.0, 1799.0}) {
        CHECK(f.propose(t, want(1, 2, 2)) == Lines{"refused 1 not_ready"});
    }
    CHECK(f.coordinator.next_deadline() == at(1800));
    CHECK(f.propose(1800, want(2, 2, 2)) == Lines{"outcome 0 timed_out", "published 2 as 1"});
}

TEST_CASE("time-out from publication: an answer that comes too late changes nothing") {
    Started f;
    (void)f.propose(0, want(0, 1, 1));
    (void)f.tick(1800);
    const Settlement late = f.coordinator.complete(0, at(1801));
    CHECK(late.status == Settlement::Status::done);
    CHECK(late.record->state == DecisionState::timed_out);
    CHECK(late.events.empty());
}

TEST_CASE("time-out from publication: a time-out of zero frees the way at once") {
    Started f{{TimeoutFrom::publication, Seconds{0}}};
    (void)f.propose(0, want(0, 1, 1));
    CHECK(f.propose(0, want(1, 2, 2)) == Lines{"outcome 0 timed_out", "published 1 as 1"});
}

TEST_CASE("time-out: it holds although the store cannot be told, which is made up for later") {
    Started f;
    (void)f.propose(0, want(0, 1, 1));
    f.store.commits = {ScriptedStore::Next::refuse};
    CHECK(f.tick(1800) == Lines{"outcome 0 timed_out"});
    CHECK(f.store.state.records.back().state == DecisionState::published);
    CHECK(f.tick(1805) == Lines{});
    CHECK(f.store.state.records.back().state == DecisionState::timed_out);
    const int writes = f.store.writes;
    CHECK(f.tick(1810) == Lines{});
    CHECK(f.store.writes == writes);
}

TEST_CASE("time-out: one that the store was not told goes along with the next decision") {
    Started f;
    (void)f.propose(0, want(0, 1, 1));
    f.store.commits = {ScriptedStore::Next::refuse};
    (void)f.tick(1800);
    CHECK(f.propose(1805, want(1, 2, 2)) == Lines{"published 1 as 1"});
    REQUIRE(f.store.state.records.size() == 2);
    CHECK(f.store.state.records[0].state == DecisionState::timed_out);
    CHECK(f.store.state.records[1].state == DecisionState::published);
}

TEST_CASE("time-out from the first refusal: it starts with the first refused proposal and is forced") {
    Started f{reference};
    (void)f.propose(0, want(0, 1, 1));
    CHECK_FALSE(f.coordinator.next_deadline());
    CHECK(f.tick(5000) == Lines{});  // nobody asked, nothing runs
    CHECK(f.propose(5500, want(1, 2, 2)) == Lines{"refused 1 not_ready"});
    CHECK(f.propose(7299, want(2, 2, 2)) == Lines{"refused 2 not_ready"});
    CHECK(f.propose(7300, want(3, 2, 2)) == Lines{"outcome 0 superseded", "published 3 as 1"});
    CHECK(f.coordinator.find(1)->forced);
    CHECK(f.coordinator.find(0)->state == DecisionState::superseded);
    CHECK(f.propose(7300, want(4, 3, 3)) == Lines{"refused 4 not_ready"});
}

TEST_CASE("time-out from the first refusal: an unchanged proposal does not start it") {
    Started f{reference};
    (void)f.propose(0, want(0, 1, 1));
    (void)f.propose(10, want(1, 1, 1));
    CHECK(f.propose(1815, want(2, 2, 2)) == Lines{"refused 2 not_ready"});
}

TEST_CASE("time-out from the first refusal: a failed forced write is forced again (V-5)") {
    Started f{reference};
    (void)f.propose(0, want(0, 1, 1));
    (void)f.propose(10, want(1, 2, 2));
    f.store.commits = {ScriptedStore::Next::refuse};
    CHECK(f.propose(1810, want(2, 2, 2)) == Lines{"refused 2 store"});
    CHECK(f.propose(1815, want(3, 2, 2)) == Lines{"outcome 0 superseded", "published 3 as 1"});
}

TEST_CASE("time-out from the first refusal: readiness that was seen starts a new period (V-7)") {
    Started f{reference};
    (void)f.propose(0, want(0, 1, 1));
    (void)f.propose(10, want(1, 2, 2));
    // The store's acknowledgement comes and goes, as that of an etcd client whose lease ends.
    StoredState seen = f.store.state;
    seen.records[0].state = DecisionState::acknowledged;
    CHECK(lines_of(f.coordinator.observe(seen, at(20), wall(20))) == Lines{"outcome 0 acknowledged"});
    seen.records[0].state = DecisionState::published;
    CHECK(lines_of(f.coordinator.observe(seen, at(30), wall(30))) == Lines{"restored 0 1/1 published 30"});
    CHECK(f.propose(1000, want(2, 2, 2)) == Lines{"refused 2 not_ready"});
    CHECK(f.propose(2799, want(3, 2, 2)) == Lines{"refused 3 not_ready"});
    CHECK(f.propose(2800, want(4, 2, 2)) == Lines{"outcome 0 superseded", "published 4 as 1"});
}

TEST_CASE("time-out from the first refusal: with a limit of zero the first attempt is forced") {
    Started f{{TimeoutFrom::first_refusal, Seconds{0}}};
    (void)f.propose(0, want(0, 1, 1));
    CHECK(f.propose(1, want(1, 2, 2)) == Lines{"outcome 0 superseded", "published 1 as 1"});
}

// A process that starts over an existing store: the monotonic clock begins anew, the wall clock goes on.
struct Restart {
    explicit Restart(double published_at, double restarted_at, CoordinatorConfig config = {}) {
        Fixture before{config};
        (void)before.restore(published_at);
        (void)before.propose(published_at, want(3, 2, 5));
        after.store.state = before.store.state;
        restored = lines_of(after.coordinator.restore(at(0), wall(restarted_at)));
    }
    Fixture after;
    Lines restored;
};

TEST_CASE("restart: a pending decision stays pending for the rest of its time") {
    Restart r{100, 700};
    CHECK(r.restored == Lines{"restored 0 2/5 published 600"});
    CHECK(r.after.coordinator.next_deadline() == at(1200));
    CHECK(r.after.propose(1, want(0, 3, 5)) == Lines{"refused 0 not_ready"});
    CHECK(r.after.propose(1, want(1, 2, 5)) == Lines{"refused 1 unchanged"});
    CHECK(r.after.tick(1200) == Lines{"outcome 0 timed_out"});
    CHECK(r.after.propose(1201, want(2, 3, 5)) == Lines{"published 2 as 1"});
}

TEST_CASE("restart: one that ran out meanwhile has timed out at once") {
    Restart r{100, 90'000};
    CHECK(r.restored == Lines{"restored 0 2/5 published 1800", "outcome 0 timed_out"});
    CHECK(r.after.propose(0, want(0, 2, 5)) == Lines{"published 0 as 1"});
}

TEST_CASE("restart: a wall clock that was set back does not make it younger than new") {
    Restart r{5000, 100};
    CHECK(r.restored == Lines{"restored 0 2/5 published 0"});
    CHECK(r.after.coordinator.next_deadline() == at(1800));
}

TEST_CASE("restart: a stored time-out that is no number of seconds gives way to the configured one") {
    Fixture f;
    (void)f.restore();
    (void)f.propose(0, want(0, 1, 1));
    for (const double bad :
         {-5.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        Fixture g;
        g.store.state = f.store.state;
        g.store.state.records[0].timeout = Seconds{bad};
        (void)g.restore(10);
        CHECK(g.coordinator.next_deadline() == at(1800));
    }
}

}  // namespace
}  // namespace dynaplan::decision
