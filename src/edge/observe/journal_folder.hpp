// The journal on disk: a folder of segments (proto/journal.md), each of which begins with a header and a
// checkpoint and can be replayed on its own.
//
// The caller's thread, the loop, hands in events and effects and is never made to wait: they are packed into
// a bounded buffer that a thread of the journal's own writes and syncs. A new segment begins when the current
// one is large or old enough, after any trouble with the disk, and at each start: an existing folder is
// continued behind its last segment, with a gap in the numbers, since the state at a restart is not the one
// at the end of the last life.
//
// A segment needs the core's state between two events. So the journal posts a task to the loop, through the
// function that it was given, and asks for the state there. Events and effects that belong together must be
// appended within one task.
//
// A disk that is full, failing or slow never stops a decision. state() is degraded then, with the reason.
// What fits into the buffer is kept and written when the disk works again; once it is full, records are
// dropped and counted until a new segment begins, which says how many events are missing before it.
//
// All calls from the loop's thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "core/effect.hpp"
#include "core/event.hpp"
#include "core/result.hpp"
#include "core/units.hpp"
#include "port/disk.hpp"
#include "port/journal.hpp"
#include "wire/journal_writer.hpp"

namespace dynaplan::observe {

class JournalWorker;

// What a segment begins with, as the core is between two events.
struct SegmentStart {
    TimePoint at{};
    std::string config_json;  // the effective configuration
    std::string planner_state;
    std::string coordinator_state;
};

struct JournalFolderOptions {
    std::string folder;
    std::uint64_t segment_bytes = std::uint64_t{256} << 20U;
    Seconds segment_age{3600.0};
    std::uint64_t kept_bytes = std::uint64_t{4} << 30U;  // all segments together; the oldest go first
    // Ten seconds of 20,000 FPMs a second at 80 bytes each.
    std::size_t buffer_bytes = std::size_t{16} << 20U;
    std::size_t sync_bytes = std::size_t{1} << 20U;  // synced after that many
    std::chrono::milliseconds sync_every{200};       // and that often
    std::string program_version;
    std::shared_ptr<port::Disk> disk;  // empty: this machine's
    // Called on the loop's thread, also by open().
    std::function<SegmentStart()> checkpoint;
    // Runs a task on the loop's thread, later. Called from any thread; must not wait.
    std::function<void(std::function<void()>)> post;
};

class JournalFolder final : public port::Journal {
public:
    // Makes the folder where it is missing and begins a segment; the only call that waits for the disk.
    // Fails, naming the folder, where it cannot be used at all (permissions, a file in its place, another
    // process that writes there). A full or failing disk is no failure: the journal begins degraded.
    [[nodiscard]] static Result<std::unique_ptr<JournalFolder>> open(JournalFolderOptions options);
    // As flush_and_close(2 s).
    ~JournalFolder() override;

    void append_event(const Event&) override;
    void append_effect(const Effect&) override;
    [[nodiscard]] port::JournalState state() const override;
    [[nodiscard]] std::uint64_t dropped() const override { return dropped_; }
    // The number of the segment that is being written.
    [[nodiscard]] std::uint64_t segment() const { return number_; }
    // A new segment at the next pause between two tasks: what comes now does not follow from what came
    // before.
    void part() { ask_(); }

    // Waits until everything appended so far is on the disk; false when that took longer than `limit`.
    bool flush(std::chrono::milliseconds limit);
    // The same, and ends the journal. Returns within the limit: a thread that a dead disk holds in a system
    // call is left to itself. What is appended later is dropped.
    bool flush_and_close(std::chrono::milliseconds limit);

private:
    explicit JournalFolder(JournalFolderOptions options);
    [[nodiscard]] std::string head_of_segment();
    void begin_segment();
    void offer_scratch(bool is_event);
    void drop(bool is_event);

    JournalFolderOptions options_;
    wire::JournalWriter writer_;
    std::shared_ptr<JournalFolder*> self_;  // gone with us: tasks posted before do nothing then
    std::shared_ptr<std::atomic<bool>> asked_ = std::make_shared<std::atomic<bool>>(false);
    std::function<void()> ask_;
    std::shared_ptr<JournalWorker> worker_;  // outlives us where its thread does
    std::thread thread_;
    std::string scratch_;
    std::uint64_t number_ = 0;         // of the current segment
    std::uint64_t segment_bytes_ = 0;  // records in it
    bool dropping_ = false;
    std::uint64_t dropped_ = 0;
    std::uint64_t events_dropped_ = 0;  // since the current segment began
};

}  // namespace dynaplan::observe
