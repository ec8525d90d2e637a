#include "plan/final_clamp.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace dynaplan;
using namespace dynaplan::plan;

namespace {

// A decode fleet at a tick. Members are what the test varies.
struct Tick {
    PlannerConfig config;
    LoadProposal load;
    ThroughputProposal throughput;
    PerRole<RoleFacts> roles;
    PerRole<Restraint> restraint;
    Budget budget;
    Why why;
    ClampInput in;

    explicit Tick(std::int64_t ready) {
        config.mode = Mode::decode;
        roles.decode.ready = Replicas{ready};
        budget.each = {Gpus{1}, Gpus{1}};
        budget.minimum = {Replicas{1}, Replicas{1}};
        in.now = at_seconds(1000.0);
    }
    ClampResult apply() {
        in.load = &load;
        in.throughput = &throughput;
        in.roles = &roles;
        in.restraint = &restraint;
        in.budget = &budget;
        why = {};
        why.role.decode.emplace();
        return FinalClamp{config}.apply(in, why);
    }
    [[nodiscard]] const std::vector<ClampStage>& stages() const { return why.role.decode->clamps; }
};

std::optional<Replicas> n(std::int64_t count) { return Replicas{count}; }

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("final clamp: a proposal that nothing touches goes through with its own reason") {
        Tick t{3};
        t.load.value.decode = n(4);
        const ClampResult r = t.apply();
        REQUIRE(r.target.has_value());
        CHECK(r.target->decode == n(4));
        CHECK_FALSE(r.target->prefill.has_value());
        CHECK(r.reason == Reason::scale_up);
        CHECK(t.stages().empty());
    }

    TEST_CASE("final clamp: step, then budget, each with its name") {
        Tick t{3};
        t.load.value.decode = n(30);
        t.budget.limit = Gpus{9};
        const ClampResult r = t.apply();
        CHECK(r.target->decode == n(9));
        CHECK(r.reason == Reason::budget_capped);
        CHECK(t.stages() == std::vector{ClampStage::step, ClampStage::budget});
    }

    TEST_CASE("final clamp: the floor is capped by the step, the minimum is not") {
        Tick t{3};
        t.roles.decode.floor = Replicas{30};
        t.roles.decode.floor_known = true;
        CHECK(t.apply().target->decode == n(11));
        CHECK(t.stages() == std::vector{ClampStage::floor, ClampStage::step});
        t.roles.decode.minimum = Replicas{20};
        CHECK(t.apply().target->decode == n(20));
        CHECK(t.stages() == std::vector{ClampStage::minimum});
    }

    TEST_CASE("final clamp: a closed guard holds a step of load scaling, the floor and the minimum pass") {
        Tick t{3};
        t.roles.decode.expected = n(4);
        t.restraint.decode.closed = Reason::scaling_in_progress;
        t.load.value.decode = n(5);
        const ClampResult held = t.apply();
        CHECK_FALSE(held.target.has_value());
        CHECK(held.held.decode == Reason::scaling_in_progress);
        CHECK(t.stages() == std::vector{ClampStage::guard});
        t.roles.decode.minimum = Replicas{6};
        CHECK(t.apply().target->decode == n(6));
    }

    TEST_CASE("final clamp: an open decision freezes even the minimum") {
        Tick t{1};
        t.restraint.decode.closed = Reason::decision_pending;
        t.restraint.decode.frozen = true;
        t.roles.decode.minimum = Replicas{3};
        CHECK_FALSE(t.apply().target.has_value());
    }

    TEST_CASE("final clamp: the third window in a row that asks for less takes back what is pending") {
        Tick t{1};
        t.roles.decode.expected = n(4);
        t.restraint.decode.closed = Reason::scaling_in_progress;
        t.in.throughput_tick = true;
        t.in.window_idle = true;
        t.restraint.decode.lower_windows = 1;
        CHECK_FALSE(t.apply().target.has_value());
        t.restraint.decode.lower_windows = 2;
        const ClampResult r = t.apply();
        REQUIRE(r.target.has_value());
        CHECK(r.target->decode == n(1));
        CHECK(r.cancels);
    }

    TEST_CASE("final clamp: taking back never goes below what serves") {
        Tick t{3};
        t.config.enable_throughput_scaling = false;
        t.roles.decode.expected = n(6);
        t.restraint.decode.closed = Reason::scaling_in_progress;
        t.restraint.decode.lower_since = at_seconds(800.0);
        t.load.value.decode = n(2);
        const ClampResult r = t.apply();
        REQUIRE(r.target.has_value());
        CHECK(r.target->decode == n(3));
        t.restraint.decode.lower_since = at_seconds(821.0);
        CHECK_FALSE(t.apply().target.has_value());
    }

    TEST_CASE("final clamp: while engines are missing nothing shrinks") {
        Tick t{3};
        t.load.value.decode = n(2);
        t.restraint.decode.shrink_blocked = Reason::engines_missing;
        const ClampResult r = t.apply();
        CHECK_FALSE(r.target.has_value());
        CHECK(r.held.decode == Reason::engines_missing);
    }

    TEST_CASE(
        "final clamp: nothing shrinks below what a recent forecast needed, unless traffic has stopped") {
        Tick t{6};
        t.config.enable_load_scaling = false;
        t.in.throughput_tick = true;
        t.throughput.decided = true;
        t.throughput.replicas.decode = n(2);
        t.throughput.with_margin.decode = n(3);
        CHECK(t.apply().target->decode == n(3));
        t.restraint.decode.shrink_at_least = n(5);
        CHECK(t.apply().target->decode == n(5));
        CHECK(t.stages() == std::vector{ClampStage::guard});
        t.restraint.decode.shrink_at_least = n(7);  // no reason to grow either
        const ClampResult held = t.apply();
        CHECK_FALSE(held.target.has_value());
        CHECK(held.held.decode == Reason::scale_down_capped_by_throughput);
        t.in.idle = true;
        CHECK(t.apply().target->decode == n(2));
    }

    TEST_CASE("final clamp: load that has not shown its room shrinks nothing") {
        Tick t{3};
        t.load.value.decode = n(2);
        t.restraint.decode.load_shrink_blocked = Reason::scaling_in_progress;
        const ClampResult held = t.apply();
        CHECK_FALSE(held.target.has_value());
        CHECK(held.held.decode == Reason::scaling_in_progress);
        t.load.value.decode = n(4);
        CHECK(t.apply().target->decode == n(4));
    }

    TEST_CASE("final clamp: while settling a growing target counts from the engines seen so far") {
        Tick t{1};
        t.load.value.decode = n(2);
        t.restraint.decode.growth_at_least = n(5);
        CHECK(t.apply().target->decode == n(6));
    }

    TEST_CASE("final clamp: a budget below what serves cuts, but a pending rise costs no serving replica") {
        Tick t{6};
        t.budget.limit = Gpus{4};
        const ClampResult r = t.apply();
        REQUIRE(r.target.has_value());
        CHECK(r.target->decode == n(4));
        CHECK(r.reason == Reason::budget_capped);
    }

    TEST_CASE("final clamp: zero needs a minimum of 0 and traffic known to be idle") {
        Tick t{1};
        t.roles.decode.minimum = Replicas{0};
        t.throughput.decided = true;
        t.throughput.replicas.decode = n(0);
        t.in.throughput_tick = true;
        CHECK_FALSE(t.apply().target.has_value());
        t.in.idle = true;
        CHECK(t.apply().target->decode == n(0));
        t.config.policy.scale_to_zero = ScaleToZero::never;
        CHECK_FALSE(t.apply().target.has_value());
    }

    TEST_CASE("final clamp: the first arrival lifts a role from zero to max(1, minimum)") {
        Tick t{0};
        t.roles.decode.minimum = Replicas{0};
        CHECK_FALSE(t.apply().target.has_value());
        t.in.arrivals = true;
        const ClampResult r = t.apply();
        REQUIRE(r.target.has_value());
        CHECK(r.target->decode == n(1));
        CHECK(r.reason == Reason::scale_from_zero);
    }
}
