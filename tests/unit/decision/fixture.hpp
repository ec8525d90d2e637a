// A coordinator on a scripted store, and short words for what the scenarios say again and again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "decision/coordinator.hpp"
#include "scripted_store.hpp"

namespace dynaplan::decision {

constexpr std::int64_t wall_at_0 = 1'700'000'000'000;  // Unix milliseconds when the planner's time is 0

inline TimePoint at(double s) { return at_seconds(s); }
inline std::int64_t wall(double s) { return wall_at_0 + static_cast<std::int64_t>(s * 1000.0); }

inline ScaleTo want(ProposalId proposal, std::optional<int> prefill, std::optional<int> decode,
                    bool cancels = false) {
    ScaleTo s;
    s.proposal = proposal;
    if (prefill) s.prefill = Replicas{*prefill};
    if (decode) s.decode = Replicas{*decode};
    s.reason = Reason::scale_up;
    s.cancels = cancels;
    return s;
}

// An event in one line: "published 3 as 0", "refused 4 not_ready", "outcome 0 timed_out",
// "restored 0 2/5 published 60". An absent count reads "-".
inline std::string text_of(const std::optional<Replicas>& n) { return n ? std::to_string(n->count()) : "-"; }
struct EventText {
    std::string operator()(const DecisionPublished& e) const {
        return "published " + std::to_string(e.proposal) + " as " + std::to_string(e.decision_id);
    }
    std::string operator()(const DecisionRefused& e) const {
        return "refused " + std::to_string(e.proposal) + " " + std::string{to_string(e.reason)};
    }
    std::string operator()(const DecisionOutcome& e) const {
        return "outcome " + std::to_string(e.decision_id) + " " + std::string{to_string(e.outcome)};
    }
    std::string operator()(const DecisionRestored& e) const {
        const auto age = static_cast<long>(e.age.count());
        return "restored " + std::to_string(e.decision_id) + " " + text_of(e.prefill) + "/" +
               text_of(e.decode) + " " + std::string{to_string(e.state)} + " " + std::to_string(age);
    }
    template <class Other>
    std::string operator()(const Other&) const {
        return "something else";
    }
};
inline std::string text_of(const Event& event) { return std::visit(EventText{}, event.body); }

using Lines = std::vector<std::string>;
inline Lines lines_of(const Events& events) {
    Lines lines;
    for (const Event& e : events) lines.push_back(text_of(e));
    return lines;
}

struct Fixture {
    explicit Fixture(CoordinatorConfig config = {}) : coordinator{store, config} {}

    Lines restore(double t = 0.0) { return lines_of(coordinator.restore(at(t), wall(t))); }
    Lines propose(double t, const ScaleTo& proposal) {
        return lines_of(coordinator.propose(proposal, at(t), wall(t), "{}"));
    }
    Lines tick(double t) { return lines_of(coordinator.tick(at(t))); }
    Lines complete(double t, DecisionId id) { return lines_of(coordinator.complete(id, at(t)).events); }
    Lines fail(double t, DecisionId id) { return lines_of(coordinator.fail(id, at(t)).events); }
    // "2/5 #1": what a client reads.
    [[nodiscard]] std::string stored() const {
        const StoredState& s = store.state;
        return text_of(s.prefill) + "/" + text_of(s.decode) + " #" +
               (s.current ? std::to_string(*s.current) : "-");
    }

    ScriptedStore store;
    Coordinator coordinator;
};

// Restored from an empty store.
struct Started : Fixture {
    explicit Started(CoordinatorConfig config = {}) : Fixture{config} { (void)restore(); }
};

}  // namespace dynaplan::decision
