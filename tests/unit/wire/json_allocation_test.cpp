// Reading and writing a stream of FPMs, as step lines and as a journal, without touching the heap. What
// counts allocations stands in fpm_allocation_test.cpp.
#include <string>

#include <doctest/doctest.h>

#include "json_event_samples.hpp"
#include "wire/journal_reader.hpp"
#include "wire/journal_writer.hpp"
#include "wire/json_event.hpp"

namespace dynaplan::wire {

namespace test {
long allocations_so_far();
}

namespace {

// Two engines take turns, with ids longer than any short string.
Event report_of(int i) {
    Fpm fpm = sample_fpm();
    fpm.worker_id = i % 2 == 0 ? "7587890125863921413" : "758789012586392141300";
    fpm.pass.counter_id = i;
    return {at_seconds(0.1 * i), FpmArrived{i % 2 == 0 ? Role::decode : Role::prefill, fpm}};
}

}  // namespace

TEST_CASE("allocations: FPM lines are read into a used event without any") {
    StepLineParser parser;
    Event out;
    std::string lines[2];
    for (int i = 0; i < 2; ++i) append_event_json(lines[i], report_of(i));
    const long start = test::allocations_so_far();
    for (const std::string& line : lines) REQUIRE(parser.parse(line, out));
    const long warm = test::allocations_so_far();
    CHECK(warm > start);  // the counter counts
    bool good = true;
    for (int i = 0; i < 1000; ++i) good = good && parser.parse(lines[i % 2], out).has_value();
    CHECK(test::allocations_so_far() == warm);
    CHECK(good);
}

TEST_CASE("allocations: FPM lines are written without any but the output's own") {
    const Event event = report_of(1);
    std::string out;
    append_event_json(out, event);
    const long warm = test::allocations_so_far();
    for (int i = 0; i < 1000; ++i) {
        out.clear();
        append_event_json(out, event);
    }
    CHECK(test::allocations_so_far() == warm);
}

TEST_CASE("allocations: journal FPMs are written and read without any once their engines are named") {
    constexpr int reports = 1000;
    JournalWriter writer;
    std::string bytes;
    bytes.reserve(reports * 100);
    writer.append_header(bytes, {});
    writer.append_event(bytes, report_of(0));
    writer.append_event(bytes, report_of(1));
    Event event = report_of(0);
    long warm = test::allocations_so_far();
    for (int i = 2; i < reports; ++i) {
        event.at = at_seconds(0.1 * i);
        writer.append_event(bytes, event);
    }
    CHECK(test::allocations_so_far() == warm);

    auto reader = JournalReader::open(bytes);
    REQUIRE(reader);
    Event out;
    REQUIRE(reader->next(out));
    REQUIRE(reader->next(out));
    warm = test::allocations_so_far();
    int read = 2;
    for (;;) {
        const auto item = reader->next(out);
        if (!item || item->kind != JournalItemKind::event) break;
        ++read;
    }
    CHECK(test::allocations_so_far() == warm);
    CHECK(read == reports);
}

}  // namespace dynaplan::wire
