#include "wire/journal.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "json_event_equal.hpp"
#include "json_event_samples.hpp"
#include "wire/journal_reader.hpp"
#include "wire/journal_writer.hpp"
#include "wire/json_effect.hpp"

namespace dynaplan::wire {

namespace {

JournalHeader sample_header() { return {7, 1776800000123, "0.1.0", R"({"mode":"decode","itl":50})"}; }

std::string effect_line(const Effect& e) {
    std::string out;
    append_effect_json(out, e);
    return out;
}

JournalItem must_read(JournalReader& reader, Event& out) {
    const auto item = reader.next(out);
    REQUIRE_MESSAGE(item.has_value(), (item ? "" : item.error().message));
    return *item;
}

}  // namespace

TEST_CASE("journal: the header says who wrote the segment, when, and with what configuration") {
    JournalWriter writer;
    std::string bytes;
    writer.append_header(bytes, sample_header());
    CHECK(looks_like_journal(bytes));
    const auto reader = JournalReader::open(bytes);
    REQUIRE(reader);
    CHECK(reader->header().segment == 7);
    CHECK(reader->header().started_unix_ms == 1776800000123);
    CHECK(reader->header().program_version == "0.1.0");
    CHECK(reader->header().config_json == R"({"mode":"decode","itl":50})");
    CHECK(reader->offset() == bytes.size());
}

TEST_CASE("journal: every record reads back as it was written, in order") {
    JournalWriter writer;
    std::string bytes;
    writer.append_header(bytes, sample_header());
    const std::string planner_state{"\0planner\xd7\x4a", 10};
    writer.append_checkpoint(bytes, at_seconds(0.1), planner_state, "coordinator");
    const std::vector<Event> events = sample_events();
    const Effect effect{at_seconds(5.0), WakeAt{at_seconds(1.0 / 3.0)}};
    for (const Event& e : events) {
        writer.append_event(bytes, e);
        writer.append_effect(bytes, effect);
    }
    writer.append_note(bytes, at_seconds(9.5), JournalNote::dropped, 12);
    writer.append_note(bytes, at_seconds(-0.0), JournalNote::remark, 0, "for people");
    writer.append_checkpoint(bytes, at_seconds(10.0), "", "");

    auto reader = JournalReader::open(bytes);
    REQUIRE(reader);
    Event out;
    JournalItem item = must_read(*reader, out);
    CHECK(item.kind == JournalItemKind::checkpoint);
    CHECK(same(seconds_of(item.at), 0.1));
    CHECK(item.planner_state == planner_state);
    CHECK(item.coordinator_state == "coordinator");
    for (const Event& e : events) {
        item = must_read(*reader, out);
        CHECK(item.kind == JournalItemKind::event);
        CHECK(same(e, out));
        item = must_read(*reader, out);
        CHECK(item.kind == JournalItemKind::effect);
        CHECK(item.text == effect_line(effect));
    }
    item = must_read(*reader, out);
    CHECK(item.kind == JournalItemKind::note);
    CHECK(item.note == JournalNote::dropped);
    CHECK(item.count == 12);
    CHECK(seconds_of(item.at) == 9.5);
    item = must_read(*reader, out);
    CHECK(item.note == JournalNote::remark);
    CHECK(item.text == "for people");
    CHECK(same(seconds_of(item.at), -0.0));
    item = must_read(*reader, out);
    CHECK(item.kind == JournalItemKind::checkpoint);
    CHECK(item.planner_state.empty());
    CHECK(item.coordinator_state.empty());
    for (int again = 0; again < 2; ++again) {
        item = must_read(*reader, out);
        CHECK(item.kind == JournalItemKind::end);
        CHECK(item.offset == bytes.size());
    }
}

TEST_CASE("journal: numbers that admission would refuse survive packing too") {
    Event e{at_seconds(-1.0 / 3.0), FpmArrived{Role::prefill, sample_fpm()}};
    Fpm& f = std::get<FpmArrived>(e.body).fpm;
    f.version = -3;
    f.worker_id.clear();
    f.dp_rank = INT64_MIN;
    f.pass.counter_id = INT64_MIN;
    f.pass.wall_time = std::numeric_limits<double>::infinity();
    f.pass.scheduled = {-1, INT64_MIN, -0.0, INT64_MAX, 0, 1, 5e-324};
    f.pass.queued = {0, 0, -0.0, 0, 0, -1e308};
    JournalWriter writer;
    std::string bytes;
    writer.append_header(bytes, {});
    writer.append_event(bytes, e);
    auto reader = JournalReader::open(bytes);
    REQUIRE(reader);
    Event out;
    CHECK(must_read(*reader, out).kind == JournalItemKind::event);
    CHECK(same(e, out));
}

TEST_CASE("journal: an FPM takes 80 bytes at most, since its engine is named only once a segment") {
    JournalWriter writer;
    std::string bytes;
    writer.append_header(bytes, sample_header());
    Event e{at_seconds(1234.567), FpmArrived{Role::decode, sample_fpm()}};
    const auto size_of_next = [&] {
        const std::size_t before = bytes.size();
        writer.append_event(bytes, e);
        return bytes.size() - before;
    };
    const std::size_t first = size_of_next();
    const std::size_t second = size_of_next();
    // Both blocks in use, three variances that are no zeros: the largest that real engines send.
    CHECK(second <= 80);
    CHECK(first > second);
    std::get<FpmArrived>(e.body).fpm.pass.queued = {};
    std::get<FpmArrived>(e.body).fpm.pass.scheduled = {0, 0, 0.0, 0, 17, 70211, 1843.25};
    CHECK(size_of_next() <= 50);
    std::get<FpmArrived>(e.body).fpm.pass = {};
    CHECK(size_of_next() <= 20);
    std::get<FpmArrived>(e.body).role = Role::prefill;  // another engine of the same name
    CHECK(size_of_next() > 40);
    CHECK(size_of_next() <= 20);
    std::get<FpmArrived>(e.body).fpm.dp_rank = 2;
    CHECK(size_of_next() > 40);

    // A new segment stands on its own.
    std::string next;
    writer.append_header(next, sample_header());
    writer.append_event(next, e);
    auto reader = JournalReader::open(next);
    REQUIRE(reader);
    Event out;
    CHECK(must_read(*reader, out).kind == JournalItemKind::event);
    CHECK(same(e, out));
}

TEST_CASE("journal: what is no segment is refused with its reason") {
    JournalWriter writer;
    std::string bytes;
    writer.append_header(bytes, sample_header());
    const auto reason = [](std::string_view segment) {
        const auto r = JournalReader::open(segment);
        return r ? "accepted" : r.error().message;
    };
    CHECK(reason("") == "the journal segment is empty");
    CHECK(reason(R"({"timestamp":1})") == "journal offset 0: not a journal segment");
    CHECK(!looks_like_journal(R"({"timestamp":1})"));
    for (std::size_t n = 1; n < bytes.size(); ++n) {
        INFO(n);
        CHECK(reason(std::string_view{bytes}.substr(0, n)) ==
              "journal offset " + std::to_string(n) + ": the header is cut off");
    }
    std::string newer = bytes;
    newer[8] = 2;
    CHECK(reason(newer) == "journal offset 8: format version 2 is not known here, only version 1");
    for (std::size_t i = 18; i < bytes.size(); ++i) {
        std::string bad = bytes;
        bad[i] = static_cast<char>(bad[i] ^ 1);
        CHECK(reason(bad) == "journal offset 10: the header's checksum is wrong");
    }
    std::string huge = bytes;
    for (std::size_t i = 14; i < 18; ++i) huge[i] = '\xff';  // a body of 4 GB
    CHECK(reason(huge) == "journal offset " + std::to_string(huge.size()) + ": the header is cut off");
}

}  // namespace dynaplan::wire
