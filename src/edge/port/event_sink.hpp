// Where sources hand in what they have seen. On the loop's thread only: a source with a thread of its own
// brings its events there first.
#pragma once

#include "core/event.hpp"

namespace dynaplan::port {

class EventSink {
public:
    EventSink() = default;
    virtual ~EventSink() = default;
    EventSink(const EventSink&) = delete;
    EventSink& operator=(const EventSink&) = delete;

    // The sink sets the event's time. The event stays the caller's, who may fill it again: a report that is
    // decoded into the same event each time allocates nothing.
    virtual void take(Event&) = 0;
};

}  // namespace dynaplan::port
