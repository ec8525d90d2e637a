// plan::Rules under preset dynamo against the naive twin, on random scenarios.
#include <map>
#include <string>

#include <doctest/doctest.h>

#include "core/reasons.hpp"
#include "plan/rules.hpp"
#include "reference/differences.hpp"
#include "reference/random_world.hpp"
#include "reference/twin.hpp"

namespace dynaplan::reference {
namespace {

struct Tally {
    std::int64_t ticks = 0;
    std::int64_t decisions = 0;
    std::int64_t given_up = 0;  // scenarios that came to a knife's edge
    std::map<Reason, std::int64_t> load;
    std::map<Reason, std::int64_t> throughput;
};

// Answers the place of the first difference, or nothing.
std::string compare_scenario(std::uint64_t seed, Tally& tally) {
    constexpr int ticks = 40;
    RandomWorld world{seed};
    plan::Rules rules{world.config()};
    rules.set_capabilities(world.capabilities());
    Twin twin{world.config(), world.capabilities()};
    for (const Role role : all_roles) {
        rules.bootstrap(role, world.bootstrap()[role]);
        twin.bootstrap(role, world.bootstrap()[role]);
    }
    ScheduledTick next = rules.initial_tick(at_seconds(0.0));
    twin.initial_tick(at_seconds(0.0));
    for (int i = 0; i < ticks; ++i) {
        next = world.bent(next);
        const TickInput in = world.input(next);
        const TwinAnswer expected = twin.on_tick(next, in);
        const TickResult got = rules.on_tick(next, in);
        if (twin.edges() > 0) {
            ++tally.given_up;
            return {};
        }
        const std::string differ = differences(got.scale_to, expected.scale_to) +
                                   differences(got.diagnostics, expected.diagnostics) +
                                   differences(got.next_tick, expected.next_tick);
        if (!differ.empty())
            return "seed " + std::to_string(seed) + ", tick " + std::to_string(i) + "\n" + differ;
        ++tally.ticks;
        if (got.scale_to) ++tally.decisions;
        if (const auto& r = got.diagnostics.load_decision_reason) ++tally.load[*r];
        if (const auto& r = got.diagnostics.throughput_decision_reason) ++tally.throughput[*r];
        next = got.next_tick;
        world.follow(got.scale_to);
    }
    return {};
}

TEST_CASE("twin: the rules decide as the specification read aloud does, on random scenarios") {
    constexpr std::uint64_t scenarios = 600;
    Tally tally;
    for (std::uint64_t seed = 1; seed <= scenarios; ++seed) {
        const std::string first = compare_scenario(seed, tally);
        INFO(first);
        REQUIRE(first.empty());
    }
    MESSAGE("ticks compared: " << tally.ticks << ", decisions: " << tally.decisions
                               << ", scenarios left at a knife's edge: " << tally.given_up);
    // The scenarios must reach what they are to compare.
    CHECK(tally.ticks > 12'000);
    CHECK(tally.decisions > 1'000);
    CHECK(tally.given_up < static_cast<std::int64_t>(scenarios) / 4);
    for (const Reason r : {Reason::disabled, Reason::no_fpm_data, Reason::scaling_in_progress,
                           Reason::worker_count_mismatch, Reason::insufficient_data, Reason::no_change,
                           Reason::scale_up, Reason::scale_down, Reason::scale_down_capped_by_throughput}) {
        INFO("load reason " << to_string(r));
        CHECK(tally.load[r] >= 10);
    }
    for (const Reason r : {Reason::disabled, Reason::no_traffic_data, Reason::model_not_ready,
                           Reason::set_lower_bound, Reason::scale}) {
        INFO("throughput reason " << to_string(r));
        CHECK(tally.throughput[r] >= 10);
    }
}

}  // namespace
}  // namespace dynaplan::reference
