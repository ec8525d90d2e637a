// The default preset in closed loop with a fleet, a bus and an operator that misbehave.
#include <cstdint>

#include <doctest/doctest.h>

#include "default_preset.hpp"

using namespace dynaplan;
using namespace dynaplan::sim;

namespace {

constexpr std::uint64_t seeds[]{1, 2};

Setup steady(Mode mode, double rate, std::int64_t replicas) {
    Setup s = setup_of(mode);
    s.fleet.traffic.load.rate = rate;
    for (const Role role : all_roles) s.fleet.role[role].replicas = replicas;
    return s;
}

}  // namespace

TEST_CASE("default preset: lost, doubled and late reports change nothing for the fleet") {
    for (const std::uint64_t seed : seeds) {
        Setup s = steady(Mode::disagg, 20.0, 3);
        s.fleet.channel = {0.1, 0.05, 0.05, Seconds{3}};
        const Run r = run(s, seed);
        INFO("seed " << seed << r.story());
        CHECK(r.violations.empty());
        CHECK(r.whole.reversals.prefill + r.whole.reversals.decode == 0);
        CHECK(r.last.attainment > 0.9);
    }
}

TEST_CASE("default preset: an engine that is not heard does not shrink the fleet, nor one that is stuck") {
    for (const Fault::Kind kind : {Fault::Kind::silent, Fault::Kind::stuck}) {
        for (const std::uint64_t seed : seeds) {
            Setup s = steady(Mode::decode, 18.0, 4);
            s.fleet.faults = {{Role::decode, 1, kind, Seconds{600}}};
            const Run r = run(s, seed);
            INFO("seed " << seed << r.story());
            CHECK(r.violations.empty());
            CHECK(r.in_force(Role::decode, Replicas{4}, Seconds{1200}) >= Replicas{3});
        }
    }
}

TEST_CASE("default preset: a slow engine and a crash are lived with") {
    for (const std::uint64_t seed : seeds) {
        Setup s = steady(Mode::disagg, 18.0, 3);
        s.fleet.faults = {{Role::decode, 0, Fault::Kind::slow, Seconds{300}, Seconds{900}, 3.0},
                          {Role::prefill, 1, Fault::Kind::crash, Seconds{1000}}};
        const Run r = run(s, seed);
        INFO("seed " << seed << r.story());
        CHECK(r.violations.empty());
        CHECK(r.last.attainment > 0.9);
    }
}

TEST_CASE("default preset: traffic that cannot be read takes nothing away that is needed") {
    for (const std::uint64_t seed : seeds) {
        Setup s = steady(Mode::disagg, 18.0, 3);
        s.fleet.traffic_outages = {{Seconds{700}, Seconds{2400}}};
        const Run r = run(s, seed);
        INFO("seed " << seed << r.story());
        CHECK(r.violations.empty());
        // 3P3D serve it: what is beyond them may go, as the engines' own reports are known all the time.
        for (const Role role : all_roles) {
            CHECK(r.in_force(role, Replicas{3}, Seconds{2400}) >= Replicas{3});
        }
        CHECK(r.last.attainment > 0.9);
    }
}

TEST_CASE("default preset: decisions that nobody acknowledges time out, and the planner goes on") {
    for (const std::uint64_t seed : seeds) {
        Setup s = steady(Mode::disagg, 6.0, 2);
        s.fleet.acknowledge.when = Acknowledge::When::never;
        s.fleet.traffic.load = {Shape::ramp, 6.0, 30.0, Seconds{300}, Seconds{3000}};
        s.length = Seconds{4500};
        const Run r = run(s, seed);
        INFO("seed " << seed << r.story());
        CHECK(r.violations.empty());
        CHECK(r.timeouts >= 1);
        CHECK(r.decisions.size() >= 2);
        CHECK(r.target.decode > Replicas{2});
    }
}

TEST_CASE("default preset: replicas that never start are given up once the load is gone") {
    for (const std::uint64_t seed : seeds) {
        Setup s = steady(Mode::decode, 6.0, 1);
        s.fleet.traffic.load = {Shape::step, 6.0, 24.0, Seconds{600}};
        s.fleet.traffic.load.until = Seconds{1200};
        s.fleet.role.decode.startup.never = 1.0;
        s.length = Seconds{3600};
        const Run r = run(s, seed);
        INFO("seed " << seed << r.story());
        CHECK(r.violations.empty());
        CHECK(r.most(Role::decode, Replicas{1}, Seconds{600}, Seconds{1500}) > Replicas{1});
        CHECK(r.target.decode == Replicas{1});
    }
}
