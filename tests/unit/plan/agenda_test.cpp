#include "plan/agenda.hpp"

#include <doctest/doctest.h>

using namespace dynaplan;
using namespace dynaplan::plan;

namespace {

PlannerConfig config(double throughput, double load) {
    PlannerConfig c;
    c.throughput_adjustment_interval = Seconds{throughput};
    c.load_adjustment_interval = Seconds{load};
    return c;
}

Agenda started(const PlannerConfig& c, double at) {
    Agenda agenda{c};
    agenda.start(at_seconds(at));
    return agenda;
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("agenda: load ticks stand on a grid from the start, whenever they run") {
        Agenda a = started(config(180, 5), 100.0);
        CHECK(a.next() == at_seconds(105.0));
        const Agenda::Due due = a.run_next(at_seconds(105.0));
        CHECK(due.kind == Agenda::Kind::run_tick);
        CHECK(due.load);
        CHECK_FALSE(due.throughput);
        CHECK(a.next() == at_seconds(110.0));
    }

    TEST_CASE("agenda: what fell due while nobody looked is not made up for, and the grid stays") {
        Agenda a = started(config(180, 5), 0.0);
        a.resume(at_seconds(1003.0));
        CHECK(a.next() == at_seconds(1005.0));
        CHECK(a.run_next(a.next()).load);
        CHECK(a.next() == at_seconds(1010.0));
        a.resume(at_seconds(1006.0));  // nothing was missed: nothing changes
        CHECK(a.next() == at_seconds(1010.0));
    }

    TEST_CASE("agenda: a throughput tick opens, and runs with its traffic") {
        Agenda a = started(config(10, 5), 0.0);
        (void)a.run_next(at_seconds(5.0));
        CHECK(a.run_next(at_seconds(10.0)).kind == Agenda::Kind::open_throughput);
        const auto due = a.traffic_came(at_seconds(10.5));
        REQUIRE(due.has_value());
        CHECK(due->throughput);
        CHECK(due->load);  // the load tick of 10 is merged
        CHECK(a.next() == at_seconds(15.0));
        CHECK_FALSE(a.traffic_came(at_seconds(11.0)).has_value());
    }

    TEST_CASE("agenda: without traffic the open tick runs after traffic_wait") {
        Agenda a = started(config(10, 20), 0.0);
        CHECK(a.run_next(at_seconds(10.0)).kind == Agenda::Kind::open_throughput);
        CHECK(a.next() == at_seconds(12.0));
        const Agenda::Due due = a.run_next(at_seconds(12.0));
        CHECK(due.kind == Agenda::Kind::run_tick);
        CHECK(due.throughput);
        CHECK_FALSE(due.load);
        CHECK(a.next() == at_seconds(20.0));
    }

    TEST_CASE("agenda: load ticks that fall due while the throughput tick is open are merged into it") {
        Agenda a = started(config(10, 1), 0.0);
        while (a.next() < at_seconds(10.0)) (void)a.run_next(a.next());
        CHECK(a.run_next(a.next()).kind == Agenda::Kind::open_throughput);
        while (a.next() < at_seconds(12.0)) {
            const Agenda::Due merged = a.run_next(a.next());
            CHECK_FALSE(merged.load);
            CHECK_FALSE(merged.throughput);
        }
        const Agenda::Due due = a.run_next(at_seconds(12.0));
        CHECK(due.load);
        CHECK(due.throughput);
        CHECK(a.next() == at_seconds(13.0));
    }

    TEST_CASE("agenda: a load tick due within half a second of the run joins it, exactly half included") {
        for (const auto& [traffic_at, joined] : {std::pair{19.5, true}, std::pair{19.25, false}}) {
            Agenda a = started(config(19, 20), 0.0);
            CHECK(a.run_next(at_seconds(19.0)).kind == Agenda::Kind::open_throughput);
            const auto due = a.traffic_came(at_seconds(traffic_at));
            REQUIRE(due.has_value());
            CHECK(due->load == joined);
        }
    }

    TEST_CASE("agenda: a late wake-up never fires twice to catch up") {
        Agenda a = started(config(180, 5), 0.0);
        (void)a.run_next(at_seconds(23.0));
        CHECK(a.next() == at_seconds(25.0));
    }

    TEST_CASE("agenda: a pulled load tick keeps its distance to the last one, and the grid stays") {
        PlannerConfig c = config(180, 5);
        c.policy.reaction_min_interval = Seconds{0.25};
        Agenda a = started(c, 0.0);
        (void)a.run_next(at_seconds(5.0));
        a.pull_load(at_seconds(5.1));
        CHECK(a.next() == at_seconds(5.25));
        a.pull_load(at_seconds(5.2));
        CHECK(a.next() == at_seconds(5.25));
        (void)a.run_next(at_seconds(5.25));
        CHECK(a.next() == at_seconds(10.0));
        a.pull_load(at_seconds(7.0));
        CHECK(a.next() == at_seconds(7.0));
    }

    TEST_CASE("agenda: throughput scaling that is off is never due") {
        PlannerConfig c = config(10, 5);
        c.enable_throughput_scaling = false;
        Agenda a = started(c, 0.0);
        for (int i = 0; i < 10; ++i) CHECK_FALSE(a.run_next(a.next()).throughput);
    }
}
