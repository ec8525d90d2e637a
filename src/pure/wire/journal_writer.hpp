// Turns events, effects and state into journal bytes (wire/journal.hpp). Only bytes: files, rotation and
// fsync are edge/observe's.
//
// All functions append to `out`. What they append must reach the segment whole and in order, since an FPM
// refers to an engine named earlier in the segment: whoever cannot keep up drops the event before it comes
// here, and notes the count. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/effect.hpp"
#include "core/event.hpp"
#include "wire/journal.hpp"

namespace dynaplan::wire {

class JournalWriter {
public:
    // Begins a segment; a checkpoint should follow at once. Forgets the engines named in the last segment.
    void append_header(std::string& out, const JournalHeader&);
    void append_checkpoint(std::string& out, TimePoint, std::string_view planner_state,
                           std::string_view coordinator_state);
    // An FPM of an engine that the segment knows allocates nothing but room in `out`. Numbers of other events
    // must be finite (json_event.hpp).
    void append_event(std::string& out, const Event&);
    void append_effect(std::string& out, const Effect&);
    void append_note(std::string& out, TimePoint, JournalNote, std::uint64_t count,
                     std::string_view text = {});

private:
    struct EngineView {
        Role role{};
        std::string_view worker_id;
        std::int64_t dp_rank = 0;
        bool operator==(const EngineView&) const = default;
    };
    struct Engine {
        Role role{};
        EngineKey key;
        // NOLINTNEXTLINE(google-explicit-constructor): lets the table be asked without copying a name.
        operator EngineView() const { return {role, key.worker_id, key.dp_rank}; }
    };
    struct EngineHash {
        using is_transparent = void;
        std::size_t operator()(const EngineView&) const;
    };
    struct EngineEqual {
        using is_transparent = void;
        bool operator()(const EngineView& a, const EngineView& b) const { return a == b; }
    };

    std::uint64_t engine_index(std::string& out, const FpmArrived&);

    // Only looked up, never walked: the order of a hash map does not reach the bytes.
    std::unordered_map<Engine, std::uint64_t, EngineHash, EngineEqual> engines_;
    std::string body_;  // of the record under construction
};

}  // namespace dynaplan::wire
