// Verifies a journal: loads the state at a segment's checkpoint, feeds the recorded events to the planner and
// compares what it answers with the recorded effects, byte for byte. The first difference ends the run and is
// told with both sides.
//
// Segments are opened in their order. The state goes on from one to the next, and each later checkpoint has
// to equal it; after a gap in the numbering, damage, events that were dropped, or a restart with another
// configuration, the state is taken from the checkpoint instead, and a remark says so.
//
// Over a million FPMs a second: an FPM allocates nothing, and effects are only written out where there are
// any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/effect.hpp"
#include "core/result.hpp"
#include "plan/planner.hpp"
#include "replay/run_report.hpp"
#include "wire/journal_reader.hpp"

namespace dynaplan::replay {

struct Divergence {
    std::size_t offset = 0;  // of the record that differs, or of the one before which an effect is missing
    TimePoint at{};          // of the event
    std::size_t event_offset = 0;
    std::string event;     // as its line of the step protocol; empty where it has been read over
    std::string recorded;  // empty: nothing was recorded
    std::string replayed;  // empty: the planner said nothing more
};

class JournalPlayer {
public:
    enum class Status : std::uint8_t {
        more,      // call play() again
        end,       // the segment ended cleanly
        torn,      // the segment ended in a torn tail; what came before it counts
        damaged,   // problem() says where; go on with the next segment
        diverged,  // divergence() has both sides; nothing more can be said
    };

    explicit JournalPlayer(RunReport& report) : report_{report} {}

    // `segment` must outlive the playing of it.
    Result<void> open(std::string_view segment);
    // Plays up to `records` events and effects.
    Status play(std::size_t records);

    [[nodiscard]] const std::string& problem() const { return problem_; }
    [[nodiscard]] const Divergence& divergence() const { return *divergence_; }
    // Things to tell that are no errors, one line each, since the last call.
    [[nodiscard]] std::vector<std::string> take_remarks() { return std::exchange(remarks_, {}); }
    [[nodiscard]] std::size_t offset() const { return reader_ ? reader_->offset() : 0; }

    [[nodiscard]] std::uint64_t effects_verified() const { return effects_verified_; }
    [[nodiscard]] std::uint64_t effects_unverified() const { return effects_unverified_; }
    [[nodiscard]] std::uint64_t events_dropped() const { return events_dropped_; }
    [[nodiscard]] const plan::Planner* planner() const { return planner_ ? &*planner_ : nullptr; }

private:
    Status take_event(std::size_t offset);
    Status take_effect(const wire::JournalItem&);
    Status take_checkpoint(const wire::JournalItem&);
    Status damaged(std::string what);
    Status diverge(std::size_t offset, std::string recorded, std::string replayed);
    // What the planner said and the journal has not told yet.
    [[nodiscard]] bool pending() const { return comparing_ && next_effect_ < effects_.size(); }
    std::string render(const Effect&);

    RunReport& report_;
    std::optional<wire::JournalReader> reader_;
    std::optional<plan::Planner> planner_;
    Event event_;
    std::size_t event_offset_ = 0;
    bool has_event_ = false;
    bool started_ = false;
    TimePoint last_at_{};
    Effects effects_;
    std::size_t next_effect_ = 0;
    bool comparing_ = true;   // false from a note of dropped events to the next checkpoint
    bool take_state_ = true;  // the next checkpoint gives the state instead of being compared
    std::optional<std::uint64_t> last_segment_;
    std::string last_config_;
    std::string line_;
    std::string problem_;
    std::optional<Divergence> divergence_;
    std::vector<std::string> remarks_;
    std::uint64_t effects_verified_ = 0;
    std::uint64_t effects_unverified_ = 0;
    std::uint64_t events_dropped_ = 0;
};

}  // namespace dynaplan::replay
