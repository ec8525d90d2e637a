// The sample bytes of proto/journal.md, put together, are the segment that the code writes.
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "wire/journal_reader.hpp"
#include "wire/journal_writer.hpp"

namespace dynaplan::wire {

namespace {

// The indented lines of two-digit hexadecimal numbers.
std::string sample_bytes() {
    std::ifstream page{std::string{DYNAPLAN_PROTO_DIR} + "/journal.md"};
    REQUIRE(page.good());
    std::string bytes;
    for (std::string line; std::getline(page, line);) {
        if (!line.starts_with("    ")) continue;
        std::istringstream in{line};
        for (std::string word; in >> word;) {
            REQUIRE(word.size() == 2);
            bytes += static_cast<char>(std::stoi(word, nullptr, 16));
        }
    }
    return bytes;
}

Event sample_report() {
    Fpm fpm;
    fpm.worker_id = "7";
    fpm.pass.counter_id = 300;
    fpm.pass.wall_time = 0.012;
    fpm.pass.scheduled = {0, 0, 0.0, 0, 17, 70211, 1843.25};
    return {at_seconds(0.4), FpmArrived{Role::decode, fpm}};
}

}  // namespace

TEST_CASE("journal samples: the page's bytes are what the writer writes") {
    JournalWriter writer;
    std::string bytes;
    writer.append_header(bytes, {7, 1776800000123, "0.1.0", R"({"mode":"decode"})"});
    writer.append_checkpoint(bytes, at_seconds(0.25), "PLAN", "COORD");
    writer.append_event(bytes, sample_report());
    writer.append_event(bytes, {at_seconds(5.0), TickDue{}});
    writer.append_effect(bytes, {at_seconds(5.0), WakeAt{at_seconds(10.0)}});
    writer.append_note(bytes, at_seconds(6.0), JournalNote::dropped, 12);
    CHECK((bytes == sample_bytes()));
}

TEST_CASE("journal samples: the page's bytes read as the page says") {
    const std::string bytes = sample_bytes();
    auto reader = JournalReader::open(bytes);
    REQUIRE(reader);
    CHECK(reader->header().segment == 7);
    CHECK(reader->header().started_unix_ms == 1776800000123);
    CHECK(reader->header().config_json == R"({"mode":"decode"})");
    Event out;
    auto item = reader->next(out);
    REQUIRE(item);
    CHECK(item->planner_state == "PLAN");
    CHECK(item->coordinator_state == "COORD");
    item = reader->next(out);
    REQUIRE(item);
    CHECK(std::get<FpmArrived>(out.body).fpm == std::get<FpmArrived>(sample_report().body).fpm);
    CHECK(seconds_of(out.at) == 0.4);
    REQUIRE(reader->next(out));
    CHECK(std::holds_alternative<TickDue>(out.body));
    item = reader->next(out);
    REQUIRE(item);
    CHECK(item->text == R"({"t":5,"effect":"wake_at","at":10})");
    item = reader->next(out);
    REQUIRE(item);
    CHECK(item->count == 12);
    item = reader->next(out);
    REQUIRE(item);
    CHECK(item->kind == JournalItemKind::end);
}

}  // namespace dynaplan::wire
