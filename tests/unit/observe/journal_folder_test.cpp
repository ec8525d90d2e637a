#include "observe/journal_folder.hpp"

#include <filesystem>

#include <unistd.h>

#include "fixture.hpp"
#include "observe/newest_checkpoint.hpp"

namespace dynaplan::observe {

TEST_CASE("journal folder: what is appended is read back, from a header and a checkpoint on") {
    Bench b;
    auto journal = b.open(b.options());
    b.append(*journal, 1000);
    journal->append_effect({at_seconds(10.0), WakeAt{at_seconds(11.0)}});
    CHECK(journal->flush_and_close(long_enough));
    const auto files = files_in(b.folder);
    REQUIRE(files.size() == 1);
    CHECK(files[0].path == b.folder + "/000000000000.journal");
    const auto segments = segments_in(b.folder);
    CHECK(segments[0].header.segment == 0);
    CHECK(segments[0].header.program_version == "0.1.0");
    CHECK(segments[0].header.config_json == R"({"mode":"decode"})");
    CHECK(segments[0].header.started_unix_ms > 1'600'000'000'000);
    CHECK(segments[0].planner_state == "before 0");
    CHECK(segments[0].counters == up_to(1000));
    CHECK(segments[0].effects == 1);
    CHECK(journal->dropped() == 0);
    b.append(*journal, 1);
    CHECK(journal->dropped() == 1);
}

TEST_CASE("journal folder: flush brings everything to the disk while the journal goes on") {
    Bench b;
    auto journal = b.open(b.options());
    for (int round = 1; round <= 5; ++round) {
        b.append(*journal, 100);
        CHECK(journal->flush(long_enough));
        CHECK(counters_in(segments_in(b.folder)) == up_to(100 * round));
    }
}

TEST_CASE("journal folder: records reach the disk without anybody asking") {
    Bench b;
    auto journal = b.open(b.options());
    b.append(*journal, 10);
    CHECK(eventually([&] { return counters_in(segments_in(b.folder)) == up_to(10); }));
}

TEST_CASE(
    "journal folder: a segment of its size is followed by the next, with the state between two events") {
    Bench b;
    auto options = b.options();
    options.segment_bytes = 2000;
    auto journal = b.open(std::move(options));
    for (int i = 0; i < 1000; ++i) {
        b.append(*journal, 1);
        // The loop runs what was posted between two events.
        while (!b.loop.empty()) b.loop.run_one();
    }
    CHECK(journal->flush_and_close(long_enough));
    const auto files = files_in(b.folder);
    const auto segments = segments_in(b.folder);
    REQUIRE(segments.size() > 10);
    for (std::size_t i = 0; i < segments.size(); ++i) {
        CHECK(segments[i].header.segment == i);
        CHECK(segments[i].planner_state == "before " + std::to_string(segments[i].counters.front()));
        CHECK(files[i].size < 3000);
    }
    CHECK(counters_in(segments) == up_to(1000));
}

TEST_CASE("journal folder: a segment of its age is followed by the next, also when nothing happens") {
    Bench b;
    auto options = b.options();
    options.segment_age = Seconds{0.001};
    auto journal = b.open(std::move(options));
    for (int i = 0; i < 3; ++i) REQUIRE(b.loop.run_one());
    CHECK(journal->flush_and_close(long_enough));
    CHECK(segments_in(b.folder).size() == 4);
}

TEST_CASE("journal folder: the oldest segments go when all are too large together") {
    Bench b;
    auto options = b.options();
    options.segment_bytes = 4000;
    options.kept_bytes = 20'000;
    auto journal = b.open(std::move(options));
    for (int i = 0; i < 3000; ++i) {
        b.append(*journal, 1);
        while (!b.loop.empty()) b.loop.run_one();
        if (i % 100 == 0) CHECK(journal->flush(long_enough));
    }
    CHECK(journal->flush_and_close(long_enough));
    std::uint64_t size = 0;
    for (const SegmentFile& file : files_in(b.folder)) size += file.size;
    CHECK(size <= 20'000);
    CHECK(size > 14'000);
    const auto counters = counters_in(segments_in(b.folder));
    const auto all = up_to(3000);
    REQUIRE(counters.size() < all.size());
    CHECK(std::equal(counters.rbegin(), counters.rend(), all.rbegin()));
}

TEST_CASE("journal folder: a folder is continued behind its last segment, which stays as it is") {
    Bench b;
    {
        auto journal = b.open(b.options());
        b.append(*journal, 10);
    }
    const std::string before = support::bytes_of(b.folder + "/000000000000.journal");
    const std::string half_made = b.folder + "/.000000000001.journal.new";
    support::write_bytes(half_made, "left by a kill");
    support::write_bytes(b.folder + "/notes.txt", "not ours");
    {
        auto journal = b.open(b.options());
        b.append(*journal, 10);
    }
    CHECK(support::bytes_of(b.folder + "/000000000000.journal") == before);
    CHECK_FALSE(std::filesystem::exists(half_made));
    CHECK(std::filesystem::exists(b.folder + "/notes.txt"));
    const auto segments = segments_in(b.folder);
    REQUIRE(segments.size() == 2);
    // One number is left out: the state at a restart need not be the one at the end.
    CHECK(segments[1].header.segment == 2);
    CHECK(segments[1].planner_state == "before 10");
    CHECK(counters_in(segments) == up_to(20));
}

TEST_CASE("journal folder: tasks that come after its end do nothing") {
    Bench b;
    auto options = b.options();
    options.segment_bytes = 1;
    auto journal = b.open(std::move(options));
    b.append(*journal, 1);
    CHECK_FALSE(b.loop.empty());
    SUBCASE("closed") { CHECK(journal->flush_and_close(long_enough)); }
    SUBCASE("gone") { journal.reset(); }
    while (!b.loop.empty()) CHECK(b.loop.run_one());
    CHECK(files_in(b.folder).size() == 1);
}

TEST_CASE("journal folder: one process writes there at a time") {
    Bench b;
    auto journal = b.open(b.options());
    const auto second = JournalFolder::open(b.options());
    REQUIRE_FALSE(second);
    CHECK(second.error().message == b.folder + ": another process writes its journal there");
    journal.reset();
    CHECK(JournalFolder::open(b.options()));
}

TEST_CASE("journal folder: a file in its place is an error that names it") {
    Bench b;
    support::write_bytes(b.folder, "x");
    const auto journal = JournalFolder::open(b.options());
    REQUIRE_FALSE(journal);
    CHECK(journal.error().message == b.folder + ": Not a directory");
}

TEST_CASE("journal folder: one without permission is an error that names it") {
    Bench b;
    std::filesystem::create_directory(b.folder);
    using std::filesystem::perms;
    constexpr perms all_may_look = perms::owner_read | perms::owner_exec | perms::group_read |
                                   perms::group_exec | perms::others_read | perms::others_exec;
    std::filesystem::permissions(b.temp.path(), all_may_look | perms::owner_write);
    std::filesystem::permissions(b.folder, all_may_look);
    // Root may do everything, so the test becomes somebody else for the call; 65534 is nobody.
    const bool root = ::geteuid() == 0;
    if (root) REQUIRE(::seteuid(65534) == 0);
    const auto journal = JournalFolder::open(b.options());
    if (root) REQUIRE(::seteuid(0) == 0);
    REQUIRE_FALSE(journal);
    CHECK(journal.error().message == b.folder + ": a new segment: Permission denied");
}

}  // namespace dynaplan::observe
