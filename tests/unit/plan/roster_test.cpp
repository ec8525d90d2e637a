#include "plan/roster.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace dynaplan;
using namespace dynaplan::plan;

namespace {

EngineObservation engine(std::uint32_t index, std::uint32_t worker, double heard, double advanced,
                         std::int64_t queued = 0) {
    EngineObservation e;
    e.engine = static_cast<EngineIndex>(index);
    e.worker = static_cast<WorkerIndex>(worker);
    e.heard_at = at_seconds(heard);
    e.advanced_at = at_seconds(advanced);
    e.pass.queued.num_decode_requests = queued;
    return e;
}

Roster take(Reconcile reconcile, const std::vector<EngineObservation>& engines, std::int64_t ready,
            double now = 100.0) {
    Policy policy;
    policy.reconcile = reconcile;
    RosterRule rule{policy};
    Roster roster;
    rule.take(engines, Replicas{ready}, at_seconds(now), roster);
    return roster;
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("roster, strict: distinct workers must be the ready ones, each with as many ranks") {
        const std::vector<EngineObservation> two_by_two{engine(0, 0, 99, 99), engine(1, 0, 99, 99),
                                                        engine(2, 1, 99, 99), engine(3, 1, 99, 99)};
        CHECK_FALSE(take(Reconcile::strict, two_by_two, 2).mismatch);
        CHECK(take(Reconcile::strict, two_by_two, 3).mismatch);
        CHECK(take(Reconcile::strict, two_by_two, 4).mismatch);
        const std::vector<EngineObservation> uneven{engine(0, 0, 99, 99), engine(1, 0, 99, 99),
                                                    engine(2, 1, 99, 99)};
        CHECK(take(Reconcile::strict, uneven, 2).mismatch);
        CHECK(take(Reconcile::strict, {}, 1).mismatch);
    }

    TEST_CASE("roster, tolerant: an engine is heard until it is exactly engine_silent old") {
        CHECK(take(Reconcile::tolerant, {engine(0, 0, 90.5, 90.5)}, 1).engines.size() == 1);
        const Roster silent = take(Reconcile::tolerant, {engine(0, 0, 90, 90), engine(1, 1, 99, 99)}, 5);
        CHECK(silent.engines.size() == 1);
        CHECK(silent.silent == 1);
        CHECK(silent.workers == 1);
        CHECK_FALSE(silent.mismatch);
    }

    TEST_CASE("roster, tolerant: stuck needs queued work and engine_stuck without a pass") {
        CHECK(take(Reconcile::tolerant, {engine(0, 0, 99, 40, 1)}, 1).stuck == 1);
        CHECK(take(Reconcile::tolerant, {engine(0, 0, 99, 40.5, 1)}, 1).stuck == 0);
        CHECK(take(Reconcile::tolerant, {engine(0, 0, 99, 40, 0)}, 1).stuck == 0);
    }

    TEST_CASE("roster: one rule takes many rosters, and each counts anew") {
        RosterRule rule{Policy{}};
        Roster roster;
        for (int round = 0; round < 3; ++round) {
            rule.take(std::vector{engine(0, 0, 99, 99), engine(1, 0, 99, 99)}, Replicas{1}, at_seconds(100.0),
                      roster);
            CHECK(roster.workers == 1);
            CHECK(roster.engines.size() == 2);
        }
    }
}
