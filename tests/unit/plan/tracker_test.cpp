#include "plan/tracker.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace dynaplan;
using namespace dynaplan::plan;

namespace {

Fpm report(const std::string& worker, std::int64_t counter, double wall = 0.01, std::int64_t rank = 0) {
    Fpm f;
    f.worker_id = worker;
    f.dp_rank = rank;
    f.pass.counter_id = counter;
    f.pass.wall_time = wall;
    return f;
}

std::vector<std::string> order(const Tracker& t, Role role) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < t.reported(role).size(); ++i) names.push_back(t.key_of(role, i).worker_id);
    return names;
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE(
        "tracker: engines stand in the order in which they first reported, not in that of their joining") {
        Tracker t;
        t.join(Role::decode, {"3", 0}, {});
        t.join(Role::decode, {"1", 0}, {});
        for (const char* w : {"1", "3", "2", "1"}) t.observe(Role::decode, report(w, 1), at_seconds(1.0));
        CHECK(order(t, Role::decode) == std::vector<std::string>{"1", "3", "2"});
        CHECK(t.reported(Role::prefill).empty());
        CHECK(t.known(Role::decode) == 3);
    }

    TEST_CASE("tracker: the counter of the last message again is a repeat, and still a sign of life") {
        Tracker t;
        CHECK(t.observe(Role::decode, report("1", 7), at_seconds(1.0)).freshness ==
              Tracker::Freshness::fresh);
        CHECK(t.observe(Role::decode, report("1", 7), at_seconds(2.0)).freshness ==
              Tracker::Freshness::repeated);
        CHECK(t.reported(Role::decode)[0].heard_at == at_seconds(2.0));
        CHECK(t.reported(Role::decode)[0].advanced_at == at_seconds(1.0));
        // A smaller counter means that the publisher restarted.
        CHECK(t.observe(Role::decode, report("1", 0), at_seconds(3.0)).freshness ==
              Tracker::Freshness::fresh);
    }

    TEST_CASE("tracker: a heartbeat is heard but is no progress") {
        Tracker t;
        t.observe(Role::decode, report("1", 1), at_seconds(1.0));
        t.observe(Role::decode, report("1", 2, 0.0), at_seconds(5.0));
        CHECK(t.reported(Role::decode)[0].heard_at == at_seconds(5.0));
        CHECK(t.reported(Role::decode)[0].advanced_at == at_seconds(1.0));
    }

    TEST_CASE("tracker: an engine that leaves takes its place with it, the others keep theirs") {
        Tracker t;
        for (const char* w : {"1", "2", "3"}) t.observe(Role::decode, report(w, 1), at_seconds(1.0));
        const auto gone = t.leave(Role::decode, {"2", 0});
        REQUIRE(gone.has_value());
        CHECK(order(t, Role::decode) == std::vector<std::string>{"1", "3"});
        CHECK_FALSE(t.leave(Role::decode, {"2", 0}).has_value());
        t.observe(Role::decode, report("3", 9), at_seconds(2.0));
        CHECK(t.reported(Role::decode)[1].pass.counter_id == 9);
        // Its index may be used again, by an engine at the end of the order.
        const auto next = t.observe(Role::decode, report("4", 1), at_seconds(3.0));
        CHECK(next.engine->engine == *gone);
        CHECK(order(t, Role::decode) == std::vector<std::string>{"1", "3", "4"});
    }

    TEST_CASE("tracker: ranks are engines, workers are counted once") {
        Tracker t;
        for (const std::int64_t rank : {0, 1})
            t.observe(Role::decode, report("1", 1, 0.01, rank), at_seconds(1.0));
        t.observe(Role::decode, report("2", 1), at_seconds(8.0));
        CHECK(t.reported(Role::decode).size() == 3);
        CHECK(t.workers_heard(Role::decode, at_seconds(9.0), Seconds{10.0}) == 2);
        CHECK(t.workers_heard(Role::decode, at_seconds(11.0), Seconds{10.0}) == 1);
    }

    TEST_CASE("tracker: the card is that of the lowest instance id that has one, by number and not by text") {
        Tracker t;
        Capabilities ten;
        ten.max_num_seqs = 10;
        Capabilities nine;
        nine.max_num_seqs = 9;
        t.join(Role::decode, {"10", 0}, ten);
        CHECK(t.lowest_card(Role::decode).max_num_seqs == 10);
        t.join(Role::decode, {"9", 0}, nine);
        t.join(Role::decode, {"1", 0}, {});
        CHECK(t.lowest_card(Role::decode).max_num_seqs == 9);
        CHECK(t.lowest_card(Role::prefill) == Capabilities{});
    }

    TEST_CASE("tracker: an engine that nobody removed is forgotten after an hour of silence") {
        Tracker t;
        t.observe(Role::decode, report("1", 1), at_seconds(0.0));
        t.observe(Role::decode, report("2", 1), at_seconds(3000.0));
        int gone = 0;
        t.forget_silent(at_seconds(3599.0), [&](Role, EngineIndex) { ++gone; });
        CHECK(gone == 0);
        t.forget_silent(at_seconds(3600.0), [&](Role, EngineIndex) { ++gone; });
        CHECK(gone == 1);
        CHECK(order(t, Role::decode) == std::vector<std::string>{"2"});
    }
}
