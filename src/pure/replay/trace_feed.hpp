// Feeds a recording's events, and gives the traffic lines among them to the ticks that they were written for.
//
// A throughput tick asks for traffic and waits a little. In a recording the answer may stand a moment before
// the question, since its clock started with another event; so a traffic line that nobody asked for is kept
// for up to two seconds, and is the answer when the question comes in that time. Otherwise it is fed as
// volunteered.
#pragma once

#include <optional>

#include "core/event.hpp"
#include "core/result.hpp"
#include "replay/event_feed.hpp"
#include "replay/session.hpp"

namespace dynaplan::replay {

class TraceFeed {
public:
    static constexpr Seconds kept_for{2.0};

    TraceFeed(Session& session, EventFeed& feed) : session_{session}, feed_{feed} {}

    Result<void> feed(const Event&);
    // After the last event: what is due at its time, and what is still kept.
    Result<void> finish();

private:
    Result<void> pass_on(const Event&);
    Result<void> release();

    Session& session_;
    EventFeed& feed_;
    std::optional<Event> kept_;  // a traffic line
    bool wanted_ = false;        // a tick waits for traffic
};

}  // namespace dynaplan::replay
