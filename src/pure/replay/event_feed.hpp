// Feeds events to a Session and tells the report and, where one is wanted, the tape what came of it. What
// `replay` does with traces, with scenario files and with a journal under another configuration.
#pragma once

#include <string>
#include <vector>

#include "core/event.hpp"
#include "core/result.hpp"
#include "replay/run_report.hpp"
#include "replay/session.hpp"
#include "replay/tape.hpp"

namespace dynaplan::replay {

class EventFeed {
public:
    // All three outlive the feed; `tape` may be null, and has begun.
    EventFeed(Session& session, RunReport& report, Tape* tape)
        : session_{session}, report_{report}, tape_{tape} {}

    // An error names what was wrong with the event (a decision that was never published, a time that the
    // schedule cannot follow); wake-ups before it have run all the same.
    Result<void> feed(const Event&);
    // What the last feed() gave, in order; empty when the event caused nothing.
    [[nodiscard]] const std::vector<Moment>& moments() const { return moments_; }

private:
    Session& session_;
    RunReport& report_;
    Tape* tape_;
    bool started_ = false;
    std::vector<Moment> moments_;
};

}  // namespace dynaplan::replay
