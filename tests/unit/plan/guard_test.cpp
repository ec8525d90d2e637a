#include "plan/guard.hpp"

#include <doctest/doctest.h>

using namespace dynaplan;
using namespace dynaplan::plan;

namespace {

PlannerConfig config() {
    PlannerConfig c;
    c.mode = Mode::decode;
    return c;
}

Inventory at_rest(std::int64_t n) { return {Replicas{n}, Replicas{n}, false}; }

ScalingTarget decode(std::int64_t n) { return {std::nullopt, Replicas{n}}; }

// A guard that has seen the fleet at rest and is past settling.
Guard settled(std::int64_t ready, PlannerConfig c = config()) {
    Guard g{c};
    g.settle(at_seconds(0.0));
    g.look(Role::decode, Replicas{ready}, ready, at_rest(ready), at_seconds(50.0));
    return g;
}

void publish(Guard& g, ProposalId id, std::int64_t target, double at) {
    g.proposed(id, decode(target), at_seconds(at));
    g.published({id, id}, at_seconds(at));
}

void acknowledge(Guard& g, DecisionId id, double at) {
    g.outcome({id, OutcomeKind::acknowledged}, at_seconds(at));
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("guard: at rest nothing is held") {
        Guard g = settled(3);
        const Restraint r = g.restraint(Role::decode, at_seconds(50.0));
        CHECK_FALSE(r.closed.has_value());
        CHECK_FALSE(r.shrink_blocked);
        CHECK(g.holds(at_seconds(50.0)).empty());
    }

    TEST_CASE("guard: an open decision freezes, an acknowledged one holds growth until it is reached") {
        Guard g = settled(3);
        publish(g, 0, 4, 60.0);
        CHECK(g.restraint(Role::decode, at_seconds(61.0)).closed == Reason::decision_pending);
        CHECK(g.restraint(Role::decode, at_seconds(61.0)).frozen);
        acknowledge(g, 0, 62.0);
        CHECK(g.restraint(Role::decode, at_seconds(62.0)).closed == Reason::scaling_in_progress);
        CHECK_FALSE(g.restraint(Role::decode, at_seconds(62.0)).frozen);
        CHECK(g.expected(Role::decode) == Replicas{4});
        g.look(Role::decode, Replicas{4}, 4, at_rest(4), at_seconds(160.0));
        CHECK_FALSE(g.restraint(Role::decode, at_seconds(160.0)).closed.has_value());
    }

    TEST_CASE("guard: half an hour while nothing is measured, then three start-ups, at least ten minutes") {
        Guard g = settled(1);
        publish(g, 0, 2, 60.0);
        acknowledge(g, 0, 60.0);
        CHECK(g.restraint(Role::decode, at_seconds(61.0)).deadline == at_seconds(60.0 + 1800.0));
        g.look(Role::decode, Replicas{2}, 2, at_rest(2), at_seconds(360.0));  // took 300 s
        publish(g, 1, 3, 400.0);
        acknowledge(g, 1, 400.0);
        CHECK(g.restraint(Role::decode, at_seconds(401.0)).deadline == at_seconds(400.0 + 900.0));
        g.look(Role::decode, Replicas{3}, 3, at_rest(3), at_seconds(450.0));  // took 50 s
        publish(g, 2, 4, 500.0);
        acknowledge(g, 2, 500.0);
        CHECK(g.restraint(Role::decode, at_seconds(501.0)).deadline == at_seconds(500.0 + 600.0));
    }

    TEST_CASE("guard: a hold ends by itself at its deadline") {
        PlannerConfig c = config();
        c.policy.guard_deadline = Seconds{100.0};
        Guard g = settled(1, c);
        publish(g, 0, 2, 60.0);
        acknowledge(g, 0, 60.0);
        CHECK(g.restraint(Role::decode, at_seconds(159.0)).closed.has_value());
        CHECK_FALSE(g.restraint(Role::decode, at_seconds(160.0)).closed.has_value());
    }

    TEST_CASE("guard: failed and timed-out decisions free it, expected falls back to ready") {
        for (const OutcomeKind kind : {OutcomeKind::failed, OutcomeKind::timed_out}) {
            Guard g = settled(3);
            publish(g, 0, 4, 60.0);
            g.outcome({0, kind}, at_seconds(70.0));
            CHECK_FALSE(g.restraint(Role::decode, at_seconds(70.0)).closed.has_value());
            CHECK(g.expected(Role::decode).value_or(Replicas{3}) == Replicas{3});
        }
    }

    TEST_CASE("guard: an outcome of another decision changes nothing") {
        Guard g = settled(3);
        publish(g, 5, 4, 60.0);
        acknowledge(g, 4, 61.0);
        CHECK(g.restraint(Role::decode, at_seconds(61.0)).closed == Reason::decision_pending);
    }

    TEST_CASE("guard: a refused proposal leaves what was expected before") {
        for (const Refusal why : {Refusal::not_ready, Refusal::conflict, Refusal::store}) {
            Guard g = settled(3);
            g.proposed(0, decode(4), at_seconds(60.0));
            g.refused({0, why}, at_seconds(60.0));
            CHECK_FALSE(g.restraint(Role::decode, at_seconds(60.0)).closed.has_value());
            CHECK(g.expected(Role::decode).value_or(Replicas{3}) == Replicas{3});
        }
    }

    TEST_CASE("guard: a store that refuses is named until something is published") {
        Guard g = settled(3);
        g.proposed(0, decode(4), at_seconds(60.0));
        g.refused({0, Refusal::store}, at_seconds(60.0));
        REQUIRE(g.holds(at_seconds(61.0)).size() == 1);
        CHECK(g.holds(at_seconds(61.0))[0].reason == Reason::store_unavailable);
        publish(g, 1, 4, 65.0);
        for (const Hold& h : g.holds(at_seconds(65.0))) CHECK(h.reason != Reason::store_unavailable);
    }

    TEST_CASE("guard: a store that refuses holds nothing once a tick has nothing to store") {
        Guard g = settled(3);
        g.proposed(0, decode(4), at_seconds(60.0));
        g.refused({0, Refusal::store}, at_seconds(60.0));
        TickResult wants;
        wants.scale_to = decode(4);
        g.asked(wants, false, false, at_seconds(65.0));
        REQUIRE(g.holds(at_seconds(65.0)).size() == 1);
        g.asked(TickResult{}, false, false, at_seconds(70.0));
        CHECK(g.holds(at_seconds(70.0)).empty());
    }

    TEST_CASE("guard: engines that are heard again after an outage are no growth") {
        Guard g = settled(3);
        g.bus(false, at_seconds(60.0));
        g.look(Role::decode, Replicas{0}, 3, Inventory{}, at_seconds(80.0));
        CHECK(g.restraint(Role::decode, at_seconds(80.0)).ready_unknown);
        g.bus(true, at_seconds(90.0));
        g.look(Role::decode, Replicas{3}, 3, Inventory{}, at_seconds(91.0));
        CHECK_FALSE(g.restraint(Role::decode, at_seconds(91.0)).load_growth_blocked.has_value());
        CHECK_FALSE(g.startup(Role::decode).has_value());
        g.look(Role::decode, Replicas{4}, 4, Inventory{}, at_seconds(120.0));
        CHECK_FALSE(g.restraint(Role::decode, at_seconds(120.0)).ready_unknown);
        CHECK(g.restraint(Role::decode, at_seconds(120.0)).load_growth_blocked.has_value());
    }

    TEST_CASE("guard: an inventory that is not at rest holds growth, with a deadline from when it began") {
        Guard g = settled(3);
        g.look(Role::decode, Replicas{3}, 3, {Replicas{3}, Replicas{5}, true}, at_seconds(60.0));
        g.look(Role::decode, Replicas{3}, 3, {Replicas{3}, Replicas{5}, true}, at_seconds(90.0));
        const Restraint r = g.restraint(Role::decode, at_seconds(90.0));
        CHECK(r.closed == Reason::scaling_in_progress);
        CHECK(r.since == at_seconds(60.0));
        CHECK(g.expected(Role::decode) == Replicas{5});
    }

    TEST_CASE("guard: a ready worker that never reported blocks shrinking for engine_silent") {
        Guard g = settled(3);
        g.look(Role::decode, Replicas{4}, 3, at_rest(4), at_seconds(60.0));
        CHECK(g.restraint(Role::decode, at_seconds(69.0)).shrink_blocked);
        CHECK_FALSE(g.restraint(Role::decode, at_seconds(70.0)).shrink_blocked);
    }

    TEST_CASE("guard: settling follows a start, a take-over and the end of a bus outage") {
        Guard g = settled(3);
        g.bus(false, at_seconds(100.0));
        CHECK(g.restraint(Role::decode, at_seconds(500.0)).shrink_blocked);
        g.bus(true, at_seconds(600.0));
        CHECK(g.restraint(Role::decode, at_seconds(609.0)).shrink_blocked);
        CHECK_FALSE(g.restraint(Role::decode, at_seconds(610.0)).shrink_blocked);
        g.leader(false, at_seconds(700.0));
        CHECK(g.restraint(Role::decode, at_seconds(701.0)).closed == Reason::standby);
        CHECK(g.restraint(Role::decode, at_seconds(701.0)).frozen);
        g.leader(true, at_seconds(800.0));
        CHECK_FALSE(g.restraint(Role::decode, at_seconds(801.0)).closed.has_value());
        CHECK(g.restraint(Role::decode, at_seconds(801.0)).shrink_blocked);
    }

    TEST_CASE("guard: load shrinks after ten minutes of room, or after a minute of ample room") {
        Guard g = settled(3);
        const auto tick = [&](Room room, double at) {
            TickResult result;
            result.room.decode = room;
            g.asked(result, false, false, at_seconds(at));
        };
        const auto held = [&](double at) {
            return g.restraint(Role::decode, at_seconds(at)).load_shrink_blocked.has_value();
        };
        tick(Room::none, 55.0);
        tick(Room::enough, 60.0);
        CHECK(held(65.0));
        tick(Room::ample, 65.0);
        CHECK(held(119.0));
        CHECK_FALSE(held(120.0));  // ample since 60 s
        tick(Room::none, 120.0);
        tick(Room::enough, 700.0);
        CHECK(held(719.0));
        CHECK_FALSE(held(720.0));  // room since ten minutes
        g.look(Role::decode, Replicas{2}, 2, at_rest(2), at_seconds(2000.0));
        CHECK(held(2059.0));
        CHECK_FALSE(held(2060.0));
        g.look(Role::decode, Replicas{3}, 3, at_rest(3), at_seconds(3000.0));
        CHECK(held(3599.0));
        CHECK_FALSE(held(3600.0));
    }

    TEST_CASE("guard: a planner that has seen nothing against it may shrink at once") {
        Guard g = settled(3);
        TickResult result;
        result.room.decode = Room::ample;
        g.asked(result, false, false, at_seconds(50.0));
        CHECK_FALSE(g.restraint(Role::decode, at_seconds(55.0)).load_shrink_blocked.has_value());
    }

    TEST_CASE("guard: nothing shrinks below the largest need of the last ten minutes") {
        Guard g = settled(5);
        const auto forecast = [&](std::int64_t n, double at) {
            TickResult result;
            result.needed_with_margin.decode = Replicas{n};
            g.asked(result, true, true, at_seconds(at));
        };
        const auto least = [&](double at) {
            return g.restraint(Role::decode, at_seconds(at)).shrink_at_least;
        };
        CHECK_FALSE(least(60.0).has_value());
        forecast(4, 180.0);
        forecast(2, 360.0);
        forecast(3, 540.0);
        CHECK(least(541.0) == Replicas{4});
        CHECK(least(780.0) == Replicas{4});
        CHECK(least(781.0) == Replicas{3});  // the 2 before it was forgotten when 3 came
        CHECK(least(1140.0) == Replicas{3});
        CHECK_FALSE(least(1141.0).has_value());
    }

    TEST_CASE("guard: a restored decision that was open is open again, with the age that it had") {
        Guard g{config()};
        g.restored({7, std::nullopt, Replicas{5}, DecisionState::published, Seconds{300.0}},
                   at_seconds(1000.0));
        g.look(Role::decode, Replicas{3}, 3, at_rest(3), at_seconds(1005.0));
        const Restraint r = g.restraint(Role::decode, at_seconds(1005.0));
        CHECK(r.closed == Reason::decision_pending);
        CHECK(r.since == at_seconds(700.0));
        acknowledge(g, 7, 1010.0);
        CHECK(g.restraint(Role::decode, at_seconds(1010.0)).closed == Reason::scaling_in_progress);
        CHECK(g.expected(Role::decode) == Replicas{5});
    }

    TEST_CASE("guard: under scaling_guard reference there is no restraint, expected is the inventory's") {
        PlannerConfig c = config();
        c.policy.scaling_guard = ScalingGuard::reference;
        c.policy.reconcile = Reconcile::strict;
        Guard g = settled(3, c);
        publish(g, 0, 4, 60.0);
        g.look(Role::decode, Replicas{3}, 3, at_rest(3), at_seconds(61.0));
        CHECK_FALSE(g.restraint(Role::decode, at_seconds(61.0)).closed.has_value());
        CHECK(g.expected(Role::decode) == Replicas{3});
    }

    TEST_CASE("guard: under scaling_guard reference an inventory without an expected count expects nothing") {
        PlannerConfig c = config();
        c.policy.scaling_guard = ScalingGuard::reference;
        Guard g = settled(3, c);
        publish(g, 0, 4, 60.0);
        g.look(Role::decode, Replicas{3}, 3, {Replicas{3}, std::nullopt, false}, at_seconds(61.0));
        CHECK_FALSE(g.expected(Role::decode).has_value());
    }
}
