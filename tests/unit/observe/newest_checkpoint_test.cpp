#include "observe/newest_checkpoint.hpp"

#include "fixture.hpp"

namespace dynaplan::observe {

namespace {

// Three segments, numbers 0, 2, 4.
std::vector<SegmentFile> three_segments(Bench& b) {
    for (int i = 0; i < 3; ++i) {
        auto journal = b.open(b.options());
        b.append(*journal, 10);
        CHECK(journal->flush_and_close(long_enough));
    }
    auto files = files_in(b.folder);
    REQUIRE(files.size() == 3);
    return files;
}
NewestCheckpoint newest_in(const std::string& folder) {
    auto newest = newest_checkpoint(folder);
    REQUIRE(newest);
    return std::move(*newest);
}
std::size_t head_size(const std::string& bytes) {
    auto reader = wire::JournalReader::open(bytes);
    REQUIRE(reader);
    return reader->offset();
}

}  // namespace

TEST_CASE("newest checkpoint: of a folder that is empty or not there, none") {
    Bench b;
    CHECK_FALSE(newest_in(b.folder).found);
    CHECK_FALSE(newest_in(b.temp.path()).found);
    CHECK(newest_in(b.temp.path()).remarks.empty());
    support::write_bytes(b.folder, "x");
    const auto newest = newest_checkpoint(b.folder);
    REQUIRE_FALSE(newest);
    CHECK(newest.error().message == b.folder + ": Not a directory");
}

TEST_CASE("newest checkpoint: the newest segment's, with all that its header says") {
    Bench b;
    const auto files = three_segments(b);
    const auto newest = newest_in(b.folder);
    REQUIRE(newest.found);
    CHECK(newest.remarks.empty());
    CHECK(newest.found->path == files[2].path);
    CHECK(newest.found->segment == 4);
    CHECK(newest.found->planner_state == "before 20");
    CHECK(newest.found->coordinator_state == "coordinator");
    CHECK(newest.found->at == at_seconds(0.2));
    CHECK(newest.found->program_version == "0.1.0");
    CHECK(newest.found->config_json == R"({"mode":"decode"})");
}

TEST_CASE("newest checkpoint: a torn or damaged newest segment is passed over with a remark") {
    Bench b;
    const auto files = three_segments(b);
    std::string bytes = support::bytes_of(files[2].path);
    const std::size_t head = head_size(bytes);
    std::string wanted;
    SUBCASE("empty") {
        bytes.clear();
        wanted = "the journal segment is empty";
    }
    SUBCASE("cut in the header") {
        bytes.resize(head - 1);
        wanted = "journal offset " + std::to_string(head - 1) + ": the header is cut off";
    }
    SUBCASE("cut before the checkpoint") {
        bytes.resize(head);
        wanted = "does not begin with a checkpoint";
    }
    SUBCASE("cut in the checkpoint") {
        bytes.resize(head + 12);
        wanted = "torn at offset " + std::to_string(head) + ", before its checkpoint";
    }
    SUBCASE("a checkpoint with a wrong byte") {
        bytes[head + 20] ^= 1;
        wanted = "journal offset " + std::to_string(head) +
                 ": the record's checksum is wrong, but valid records follow at offset ";
    }
    support::write_bytes(files[2].path, bytes);
    const auto newest = newest_in(b.folder);
    REQUIRE(newest.found);
    CHECK(newest.found->path == files[1].path);
    CHECK(newest.found->planner_state == "before 10");
    REQUIRE(newest.remarks.size() == 1);
    CAPTURE(newest.remarks[0]);
    CHECK(newest.remarks[0].starts_with(files[2].path + ": " + wanted));
}

TEST_CASE("newest checkpoint: a segment that is torn behind its checkpoint still serves") {
    Bench b;
    const auto files = three_segments(b);
    const std::string bytes = support::bytes_of(files[2].path);
    support::write_bytes(files[2].path, bytes.substr(0, bytes.size() - 5));
    CHECK(newest_in(b.folder).found->path == files[2].path);
}

TEST_CASE("newest checkpoint: none of the segments can be read") {
    Bench b;
    for (const SegmentFile& file : three_segments(b)) support::write_bytes(file.path, "rubbish");
    const auto newest = newest_in(b.folder);
    CHECK_FALSE(newest.found);
    CHECK(newest.remarks.size() == 3);
}

TEST_CASE("newest checkpoint: a state of many megabytes is found whole") {
    Bench b;
    b.state_bytes = 9U << 20U;
    { auto journal = b.open(b.options()); }
    const auto newest = newest_in(b.folder);
    REQUIRE(newest.found);
    CHECK(newest.found->planner_state.size() == std::string{"before 0"}.size() + b.state_bytes);
}

}  // namespace dynaplan::observe
