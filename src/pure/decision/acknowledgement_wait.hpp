// Waits until the newest decision is acknowledged (specification, connectors 1.5, rule V-10): a pure state
// machine. It is told what the store holds and what time it is, and says how the wait ended.
//
//     AcknowledgementWait wait{coordinator.known(), now, wait_bound(check_interval, max_wait)};
//     ... wait.observe(coordinator.known(), now) after each change, wait.tick(now) at wait.deadline() ...
//     if (wait.result()) ...
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/units.hpp"
#include "decision/store.hpp"

namespace dynaplan::decision {

enum class WaitResult : std::uint8_t {
    no_decision,  // there was none to wait for
    completed,    // acknowledged, by its own number or a later one
    timed_out,    // not before the bound; what comes at the bound itself is too late
    superseded,   // the number changed meanwhile, or is gone
    cancelled,    // by cancel()
};
std::string_view to_string(WaitResult);

// As many whole checks as fit into the longest wait. The interval is 1 s or more, the wait 0 or more.
Seconds wait_bound(Seconds check_interval, Seconds max_wait);

class AcknowledgementWait {
public:
    // Looks at once: a decision that is acknowledged already needs no wait, with a bound of 0 either.
    AcknowledgementWait(const StoredState& state, TimePoint now, Seconds bound);

    // After the end nothing changes it.
    void observe(const StoredState& state, TimePoint now);
    void tick(TimePoint now);
    void cancel();

    [[nodiscard]] std::optional<WaitResult> result() const { return result_; }
    [[nodiscard]] TimePoint deadline() const { return deadline_; }

private:
    TimePoint deadline_;
    std::optional<DecisionId> waited_for_;
    std::optional<WaitResult> result_;
};

}  // namespace dynaplan::decision
