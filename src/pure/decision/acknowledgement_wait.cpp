#include "decision/acknowledgement_wait.hpp"

#include <cmath>

#include "core/assert.hpp"

namespace dynaplan::decision {

namespace {

bool is_acknowledged(const StoredState& state) {
    return state.current && state.acknowledged && *state.acknowledged >= *state.current;
}

}  // namespace

std::string_view to_string(WaitResult result) {
    switch (result) {
        case WaitResult::no_decision: return "no_decision";
        case WaitResult::completed: return "completed";
        case WaitResult::timed_out: return "timed_out";
        case WaitResult::superseded: return "superseded";
        case WaitResult::cancelled: return "cancelled";
    }
    DYNAPLAN_ASSERT(false);
}

Seconds wait_bound(Seconds check_interval, Seconds max_wait) {
    DYNAPLAN_ASSERT(check_interval.count() >= 1.0 && max_wait.count() >= 0.0);
    return check_interval * std::floor(max_wait / check_interval);
}

AcknowledgementWait::AcknowledgementWait(const StoredState& state, TimePoint now, Seconds bound)
    : deadline_{now + bound}, waited_for_{state.current} {
    if (!waited_for_) {
        result_ = WaitResult::no_decision;
    } else if (is_acknowledged(state)) {
        result_ = WaitResult::completed;
    }
    tick(now);
}

void AcknowledgementWait::observe(const StoredState& state, TimePoint now) {
    tick(now);
    if (result_) return;
    if (state.current != waited_for_) {
        result_ = WaitResult::superseded;
    } else if (is_acknowledged(state)) {
        result_ = WaitResult::completed;
    }
}

void AcknowledgementWait::tick(TimePoint now) {
    if (!result_ && now >= deadline_) result_ = WaitResult::timed_out;
}

void AcknowledgementWait::cancel() {
    if (!result_) result_ = WaitResult::cancelled;
}

}  // namespace dynaplan::decision
