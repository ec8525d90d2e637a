// The journal on a disk that is full, failing or slow.
#include <sys/mount.h>

#include "fixture.hpp"

namespace dynaplan::observe {

namespace {

using support::FakeDisk;

bool degraded(const JournalFolder& journal) { return journal.state().degraded; }

// A task that was posted while the buffer was still full begins nothing, and another one follows.
void run_until_well(Bench& b, const JournalFolder& journal) {
    while (degraded(journal)) REQUIRE(b.loop.run_one());
}

// Every report up to `n` is in the segments, or counted as dropped in the note of the segment after it.
void check_accounted_for(const std::vector<Segment>& segments, std::int64_t n) {
    std::int64_t next = 0;
    for (const Segment& s : segments) {
        CHECK_FALSE(s.torn);
        next += static_cast<std::int64_t>(s.events_dropped);
        CHECK(s.planner_state.starts_with("before "));
        for (const std::int64_t counter : s.counters) REQUIRE(counter == next++);
    }
    CHECK(next == n);
}

}  // namespace

TEST_CASE("journal folder: a short trouble loses nothing, shows in the state, and ends the segment") {
    Bench b;
    auto journal = b.open(b.options());
    b.append(*journal, 100);
    CHECK(journal->flush(long_enough));
    std::string reason;
    SUBCASE("no room at all") {
        b.disk->room = 0;
        reason = "write: No space left on device";
    }
    SUBCASE("no room in the middle of a record") {
        b.disk->room = 33;
        reason = "write: No space left on device";
    }
    SUBCASE("bytes that do not reach the disk") {
        b.disk->sync_error = EIO;
        reason = "sync: Input/output error";
    }
    b.append(*journal, 100);
    CHECK(eventually([&] { return degraded(*journal); }));
    CHECK(journal->state().reason == b.folder + ": " + reason);
    CHECK_FALSE(journal->flush(std::chrono::milliseconds{1}));
    b.append(*journal, 100);
    b.disk->room = FakeDisk::endless;
    b.disk->sync_error = 0;
    CHECK(b.loop.run_one());
    b.append(*journal, 100);
    CHECK(journal->flush_and_close(long_enough));
    CHECK_FALSE(degraded(*journal));
    CHECK(journal->dropped() == 0);
    const auto segments = segments_in(b.folder);
    REQUIRE(segments.size() == 2);
    CHECK(segments[1].planner_state == "before 300");
    CHECK(segments[1].events_dropped == 0);
    check_accounted_for(segments, 400);
}

TEST_CASE("journal folder: a full disk drops and counts when the buffer is full, and a new segment follows") {
    Bench b;
    auto options = b.options();
    options.buffer_bytes = 64U << 10U;
    auto journal = b.open(std::move(options));
    b.append(*journal, 100);
    b.disk->room = 1000;
    while (journal->dropped() < 500) b.append(*journal, 100);
    const std::uint64_t dropped = journal->dropped();
    journal->append_effect({at_seconds(1.0), WakeAt{at_seconds(2.0)}});
    CHECK(journal->dropped() == dropped + 1);
    CHECK(eventually([&] {
        return journal->state().reason == b.folder + ": write: No space left on device; " +
                                              std::to_string(dropped + 1) + " records dropped so far";
    }));
    b.disk->room = FakeDisk::endless;
    run_until_well(b, *journal);
    b.append(*journal, 100);
    CHECK(journal->dropped() == dropped + 1);
    CHECK(journal->flush_and_close(long_enough));
    const auto segments = segments_in(b.folder);
    REQUIRE(segments.size() == 2);
    CHECK(segments[1].events_dropped == dropped);
    CHECK(segments[1].effects == 0);
    check_accounted_for(segments, b.next);
}

TEST_CASE("journal folder: a slow disk never holds the caller up") {
    Bench b;
    auto options = b.options();
    options.buffer_bytes = 64U << 10U;
    auto journal = b.open(std::move(options));
    b.disk->hold_syncs();
    // Each append returns although no sync does.
    while (journal->dropped() < 500) b.append(*journal, 100);
    CHECK(
        journal->state().reason.starts_with(b.folder + ": the disk does not keep up, the buffer was full; "));
    b.disk->let_go();
    run_until_well(b, *journal);
    b.append(*journal, 100);
    CHECK(journal->flush_and_close(long_enough));
    check_accounted_for(segments_in(b.folder), b.next);
}

TEST_CASE("journal folder: closing takes no longer than its limit, whatever the disk does") {
    Bench b;
    auto journal = b.open(b.options());
    SUBCASE("a sync that does not return") { b.disk->hold_syncs(); }
    SUBCASE("a disk that is full") { b.disk->room = 0; }
    b.append(*journal, 100);
    const auto began = std::chrono::steady_clock::now();
    CHECK_FALSE(journal->flush_and_close(std::chrono::milliseconds{50}));
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds{5});
    // The thread that was left behind holds its lock until it comes back.
    b.disk->room = FakeDisk::endless;
    b.disk->let_go();
    journal.reset();
    CHECK(eventually([&] { return JournalFolder::open(b.options()).has_value(); }));
}

TEST_CASE("journal folder: with no room for its first segment it begins degraded and recovers") {
    Bench b;
    b.disk->create_error = ENOSPC;
    auto journal = b.open(b.options());
    CHECK(journal->state().reason == b.folder + ": a new segment: No space left on device");
    b.append(*journal, 100);
    b.disk->create_error = 0;
    CHECK(journal->flush_and_close(long_enough));
    const auto segments = segments_in(b.folder);
    REQUIRE_FALSE(segments.empty());
    CHECK(segments[0].planner_state == "before 0");
    check_accounted_for(segments, 100);
}

TEST_CASE("journal folder: a state larger than the buffer still begins a segment") {
    Bench b;
    auto options = b.options();
    options.buffer_bytes = 64U << 10U;
    options.segment_bytes = 1000;
    b.state_bytes = 1U << 20U;
    auto journal = b.open(std::move(options));
    for (int i = 0; i < 300; ++i) {
        b.append(*journal, 1);
        while (!b.loop.empty()) b.loop.run_one();
        // What is written is no matter here: only so that the disk keeps up.
        CHECK(journal->flush(long_enough));
    }
    CHECK(journal->flush_and_close(long_enough));
    CHECK(journal->dropped() == 0);
    check_accounted_for(segments_in(b.folder), 300);
}

TEST_CASE("journal folder: a file system without room drops, and goes on when it has some again") {
    Bench b;
    const std::string& place = b.temp.path();
    if (::mount("tmpfs", place.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "size=64k,mode=0700") != 0) {
        MESSAGE("not tried: a small tmpfs cannot be mounted here");
        return;
    }
    {
        auto options = b.options();
        options.disk = nullptr;
        options.buffer_bytes = 64U << 10U;
        auto journal = b.open(std::move(options));
        while (journal->dropped() == 0) b.append(*journal, 10);
        CHECK(eventually([&] { return journal->state().reason.find("No space left") != std::string::npos; }));
        REQUIRE(::mount("tmpfs", place.c_str(), "tmpfs", MS_REMOUNT, "size=4m") == 0);
        run_until_well(b, *journal);
        b.append(*journal, 100);
        CHECK(journal->flush_and_close(long_enough));
        check_accounted_for(segments_in(b.folder), b.next);
    }
    CHECK(::umount(place.c_str()) == 0);
}

}  // namespace dynaplan::observe
