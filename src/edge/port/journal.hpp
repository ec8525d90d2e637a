// What the loop writes down: every event that entered the core and every effect that came out, in order.
//
// Nothing here waits or fails: what cannot be kept is counted, and the journal says that it is degraded and
// why. The loop's thread.
#pragma once

#include <cstdint>
#include <string>

#include "core/effect.hpp"
#include "core/event.hpp"

namespace dynaplan::port {

struct JournalState {
    bool degraded = false;
    std::string reason;  // one line: folder, what is wrong; empty when all is well
};

class Journal {
public:
    Journal() = default;
    virtual ~Journal() = default;
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    // An event with its effects is appended within one task of the loop: between tasks a new segment may
    // begin.
    virtual void append_event(const Event&) = 0;
    virtual void append_effect(const Effect&) = 0;

    [[nodiscard]] virtual JournalState state() const = 0;
    // Events and effects that are not in the journal, since it was opened.
    [[nodiscard]] virtual std::uint64_t dropped() const = 0;
};

// Keeps nothing, for a planner that is to have no journal.
class NullJournal final : public Journal {
public:
    void append_event(const Event&) override {}
    void append_effect(const Effect&) override {}
    [[nodiscard]] JournalState state() const override { return {}; }
    [[nodiscard]] std::uint64_t dropped() const override { return 0; }
};

}  // namespace dynaplan::port
