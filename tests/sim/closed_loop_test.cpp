// The driver itself, with a planner of a few lines: what it carries to and fro, and that it sees broken
// rules.
#include "closed_loop.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace dynaplan;
using namespace dynaplan::sim;

namespace {

// Every 30 s it asks for the traffic of the last 30 s, and sets one decode replica for each 4 requests/s.
class FakePlanner {
public:
    Effects step(const Event& event) {
        Effects effects;
        if (!next_) next_ = event.at + period;
        if (std::holds_alternative<TickDue>(event.body) && event.at >= *next_) {
            next_ = *next_ + period;
            effects.push_back({event.at, TrafficWanted{period}});
        }
        if (const auto* t = std::get_if<TrafficObserved>(&event.body)) {
            const double rate = t->traffic.is_known() ? t->traffic.value().num_req / period.count() : 0.0;
            scale(event.at, static_cast<std::int64_t>(std::ceil(rate / 4.0)), effects);
        }
        if (const auto* p = std::get_if<DecisionPublished>(&event.body)) published.push_back(p->decision_id);
        if (const auto* r = std::get_if<DecisionRefused>(&event.body)) refused.push_back(r->reason);
        if (const auto* o = std::get_if<DecisionOutcome>(&event.body)) outcomes.push_back(o->outcome);
        effects.push_back({event.at, WakeAt{*next_}});
        return effects;
    }
    std::int64_t minimum = 1;
    bool says_why = true;
    bool cancels = false;
    std::vector<DecisionId> published;
    std::vector<Refusal> refused;
    std::vector<OutcomeKind> outcomes;

private:
    static constexpr Seconds period{30.0};
    void scale(TimePoint now, std::int64_t n, Effects& effects) {
        ScaleTo s;
        s.proposal = proposal_++;
        s.decode = Replicas{std::max(n, minimum)};
        s.reason = Reason::scale;
        s.cancels = cancels;
        if (says_why) {
            RoleWhy why;
            why.throughput_reason = Reason::scale;
            s.why.role.decode = why;
        }
        effects.push_back({now, std::move(s)});
    }
    std::optional<TimePoint> next_;
    ProposalId proposal_ = 0;
};

FleetConfig stepped() {
    FleetConfig c;
    c.mode = Mode::decode;
    c.traffic.load = {Shape::step, 6.0, 18.0, Seconds{300}};
    c.traffic.isl = {1000.0, 0.0, 8'000};
    c.traffic.osl = {100.0, 0.0, 500};
    c.role.decode.replicas = 2;
    c.role.decode.startup.typical = Seconds{20};
    return c;
}

}  // namespace

TEST_CASE("closed loop: effects reach the fleet, and what comes of them the planner") {
    FakePlanner planner;
    Fleet fleet{stepped(), 1};
    ClosedLoop loop{planner, fleet, {}};
    loop.run_until(at_seconds(600));
    CHECK(loop.violations().empty());
    CHECK(fleet.target(Role::decode) >= Replicas{4});
    CHECK(fleet.serving(Role::decode) >= Replicas{4});
    REQUIRE_FALSE(loop.decisions().empty());
    CHECK(planner.published.size() == loop.decisions().size());
    CHECK(planner.published.front() == 0);
    CHECK(planner.outcomes.size() == loop.decisions().size());
    // Equal targets are refused as unchanged: 20 windows, each with a proposal.
    CHECK(planner.published.size() + planner.refused.size() == 19);
    CHECK(planner.refused.front() == Refusal::unchanged);
}

TEST_CASE("closed loop: a seed run twice gives the same digest") {
    const auto digest_of = [](std::uint64_t seed) {
        FakePlanner planner;
        Fleet fleet{stepped(), seed};
        ClosedLoop loop{planner, fleet, {}};
        loop.run_until(at_seconds(400));
        return loop.digest();
    };
    CHECK(digest_of(1) == digest_of(1));
    CHECK(digest_of(1) != digest_of(2));
}

TEST_CASE("closed loop: broken rules are seen") {
    FakePlanner planner;
    planner.minimum = 0;
    planner.says_why = false;
    FleetConfig c = stepped();
    c.traffic.load = {Shape::step, 18.0, 0.0, Seconds{100}};
    Fleet fleet{c, 1};
    LoopLimits limits;
    limits.budget = Gpus{4};
    ClosedLoop loop{planner, fleet, limits};
    loop.run_until(at_seconds(200));
    const auto seen = [&](const std::string& what) {
        return std::any_of(loop.violations().begin(), loop.violations().end(),
                           [&](const std::string& v) { return v.find(what) != std::string::npos; });
    };
    CHECK(seen("below the minimum"));
    CHECK(seen("over the budget"));
    CHECK(seen("without a reason"));
}

TEST_CASE("closed loop: while a decision is open another is refused, unless it cancels; open ones time out") {
    FleetConfig c = stepped();
    c.traffic.load = {Shape::ramp, 6.0, 30.0, Seconds{100}, Seconds{400}};
    c.acknowledge.when = Acknowledge::When::never;
    LoopLimits limits;
    limits.decision_timeout = Seconds{200};
    {
        FakePlanner planner;
        Fleet fleet{c, 1};
        ClosedLoop loop{planner, fleet, limits};
        loop.run_until(at_seconds(700));
        CHECK(loop.timeouts() >= 1);
        CHECK(std::count(planner.refused.begin(), planner.refused.end(), Refusal::conflict) >= 1);
        CHECK(std::count(planner.outcomes.begin(), planner.outcomes.end(), OutcomeKind::timed_out) ==
              loop.timeouts());
    }
    FakePlanner planner;
    planner.cancels = true;
    Fleet fleet{c, 1};
    ClosedLoop loop{planner, fleet, limits};
    loop.run_until(at_seconds(700));
    CHECK(std::count(planner.refused.begin(), planner.refused.end(), Refusal::conflict) == 0);
    CHECK(std::count(planner.outcomes.begin(), planner.outcomes.end(), OutcomeKind::superseded) >= 1);
}

TEST_CASE("closed loop: a planner that never lets time go on is stopped") {
    struct Eager {
        Effects step(const Event& event) { return {{event.at, WakeAt{event.at}}}; }
    };
    Eager planner;
    Fleet fleet{stepped(), 1};
    ClosedLoop loop{planner, fleet, {}};
    loop.run_until(at_seconds(10));
    REQUIRE(loop.violations().size() == 1);
    CHECK(loop.violations().front().find("stands still") != std::string::npos);
}
