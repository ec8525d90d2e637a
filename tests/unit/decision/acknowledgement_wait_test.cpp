#include "decision/acknowledgement_wait.hpp"

#include <doctest/doctest.h>

namespace dynaplan::decision {

namespace {

StoredState state(std::optional<DecisionId> current, std::optional<DecisionId> acknowledged) {
    StoredState out;
    out.current = current;
    out.acknowledged = acknowledged;
    return out;
}
AcknowledgementWait wait_for(std::optional<DecisionId> current, std::optional<DecisionId> acknowledged,
                             double bound = 100.0) {
    return {state(current, acknowledged), at_seconds(1000.0), Seconds{bound}};
}

}  // namespace

TEST_CASE("wait: without a decision, or with one that is acknowledged, it is over at once") {
    CHECK(wait_for(std::nullopt, std::nullopt).result() == WaitResult::no_decision);
    CHECK(wait_for(std::nullopt, 7).result() == WaitResult::no_decision);
    CHECK(wait_for(3, 3).result() == WaitResult::completed);
    CHECK(wait_for(3, 4).result() == WaitResult::completed);
    CHECK(wait_for(3, 2).result() == std::nullopt);
}

TEST_CASE("wait: an acknowledgement that is behind is none, the decision's own or a later one ends it") {
    auto wait = wait_for(3, std::nullopt);
    wait.observe(state(3, 2), at_seconds(1010.0));
    CHECK(wait.result() == std::nullopt);
    wait.observe(state(3, 3), at_seconds(1099.0));
    CHECK(wait.result() == WaitResult::completed);
}

TEST_CASE("wait: at the bound itself it has timed out, whatever comes then") {
    auto wait = wait_for(3, 2);
    CHECK(wait.deadline() == at_seconds(1100.0));
    wait.tick(at_seconds(1099.9));
    CHECK(wait.result() == std::nullopt);
    wait.observe(state(3, 3), wait.deadline());
    CHECK(wait.result() == WaitResult::timed_out);
}

TEST_CASE("wait: with a bound of nothing one look happens") {
    CHECK(wait_for(3, 3, 0.0).result() == WaitResult::completed);
    CHECK(wait_for(3, 2, 0.0).result() == WaitResult::timed_out);
}

TEST_CASE("wait: another number, or none, supersedes what is waited for, also when it is acknowledged") {
    for (const auto& later : {state(4, 2), state(4, 4), state(std::nullopt, 2), state(2, 2)}) {
        auto wait = wait_for(3, 2);
        wait.observe(later, at_seconds(1001.0));
        CHECK(wait.result() == WaitResult::superseded);
    }
}

TEST_CASE("wait: it is cancelled once, and the first end stands") {
    auto wait = wait_for(3, 2);
    wait.cancel();
    CHECK(wait.result() == WaitResult::cancelled);
    wait.observe(state(3, 3), at_seconds(1001.0));
    wait.tick(at_seconds(2000.0));
    CHECK(wait.result() == WaitResult::cancelled);
    auto done = wait_for(3, 3);
    done.cancel();
    CHECK(done.result() == WaitResult::completed);
}

TEST_CASE("wait: the bound holds whole checks only") {
    CHECK(wait_bound(Seconds{10.0}, Seconds{1800.0}) == Seconds{1800.0});
    CHECK(wait_bound(Seconds{7.0}, Seconds{20.0}) == Seconds{14.0});
    CHECK(wait_bound(Seconds{10.0}, Seconds{9.0}) == Seconds{0.0});
}

TEST_CASE("wait: each end has a name") {
    CHECK(to_string(WaitResult::no_decision) == "no_decision");
    CHECK(to_string(WaitResult::completed) == "completed");
    CHECK(to_string(WaitResult::timed_out) == "timed_out");
    CHECK(to_string(WaitResult::superseded) == "superseded");
    CHECK(to_string(WaitResult::cancelled) == "cancelled");
}

}  // namespace dynaplan::decision
