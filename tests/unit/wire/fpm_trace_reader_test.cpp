#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "fpm_bytes.hpp"
#include "wire/fpm_trace_reader.hpp"
#include "wire/fpm_trace_writer.hpp"
#include "wire/gzip.hpp"

namespace dynaplan::wire {
namespace {

using Step = TraceReader::Step;

TraceRecord record_of(std::int64_t counter) {
    TraceRecord record;
    record.component = "backend";
    record.observed_at_unix_ms = 1776800000000 + counter;
    record.fpm = test::sample_fpm();
    record.fpm.pass.counter_id = counter;
    return record;
}

std::string lines(std::int64_t first, std::int64_t last) {
    std::string text;
    for (std::int64_t i = first; i <= last; ++i) append_trace_line(text, record_of(i));
    return text;
}

// Everything that a reader says, in words.
struct Story {
    std::vector<std::int64_t> counters;
    std::vector<std::string> rest;  // "other 3@120: text", "refused 2@60: bad_json"
    std::vector<std::string> damage;
    TraceCounts counts;
};

std::string place(const TraceReader& reader) {
    return std::to_string(reader.line_number()) + "@" + std::to_string(reader.line_offset()) + ": ";
}

Story read(std::string_view bytes, std::size_t piece = 1 << 16, TraceReaderLimits limits = {}) {
    Story story;
    TraceReader reader{limits};
    for (;;) {
        const Step step = reader.next();
        if (step == Step::record) story.counters.push_back(reader.record().fpm.pass.counter_id);
        if (step == Step::other) story.rest.push_back("other " + place(reader) + std::string{reader.text()});
        if (step == Step::refused)
            story.rest.push_back("refused " + place(reader) + describe(reader.error()));
        if (step == Step::need_more) {
            if (bytes.empty()) reader.finish();
            reader.feed(bytes.substr(0, piece));
            bytes.remove_prefix(std::min(piece, bytes.size()));
        }
        if (step == Step::end) break;
    }
    for (const TraceDamage& damage : reader.damage()) {
        story.damage.push_back(std::string{to_string(damage.kind)} + "@" + std::to_string(damage.offset));
    }
    story.counts = reader.counts();
    CHECK(reader.next() == Step::end);  // and stays there
    return story;
}

using Counters = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;

TEST_CASE("trace reader: plain text, fed in any pieces") {
    const std::string text = lines(1, 5);
    for (const std::size_t piece :
         {std::size_t{1}, std::size_t{7}, std::size_t{600}, std::size_t{1} << 16U}) {
        const Story story = read(text, piece);
        CHECK(story.counters == Counters{1, 2, 3, 4, 5});
        CHECK(story.damage.empty());
        CHECK(story.counts.lines == 5);
    }
}

TEST_CASE("trace reader: gzip with many members, lines across members, fed in any pieces") {
    const std::string text = lines(1, 40);
    std::string bytes;
    for (std::size_t at = 0; at < text.size(); at += 1000) bytes += gzip_member(text.substr(at, 1000));
    for (const std::size_t piece : {std::size_t{1}, std::size_t{13}, std::size_t{1} << 16U}) {
        const Story story = read(bytes, piece);
        CHECK(story.counters.size() == 40);
        CHECK(story.counters.back() == 40);
        CHECK(story.damage.empty());
    }
}

TEST_CASE("trace reader: a byte order mark, empty lines and carriage returns are nothing special") {
    std::string text = lines(1, 1);
    text.insert(text.size() - 1, "\r");
    const Story story = read("\xef\xbb\xbf" + text + "\n  \t\r\n" + lines(2, 2));
    CHECK(story.counters == Counters{1, 2});
    CHECK(story.counts.empty_lines == 2);
    CHECK(story.counts.lines == 2);
}

TEST_CASE("trace reader: an empty file is the end, at once") {
    const Story story = read("");
    CHECK(story.counts.lines == 0);
    CHECK(story.damage.empty());
}

TEST_CASE("trace reader: other lines are handed over, bad ones named with their place") {
    const std::string first = lines(1, 1);
    const Story story = read(first + "{\"t\":5,\"event\":\"tick\"}\nnonsense\n\n" + lines(2, 2));
    CHECK(story.counters == Counters{1, 2});
    const std::string offset = std::to_string(first.size());
    CHECK(story.rest == Texts{"other 2@" + offset + ": {\"t\":5,\"event\":\"tick\"}",
                              "refused 3@" + std::to_string(first.size() + 23) + ": bad_json"});
    CHECK(story.counts.records == 2);
    CHECK(story.counts.other_lines == 1);
    CHECK(story.counts.refused[static_cast<std::size_t>(TraceLineCause::bad_json)] == 1);
    CHECK(story.counts.lines == 4);
}

TEST_CASE("trace reader: a refused report is counted by its own cause too") {
    TraceRecord record = record_of(1);
    record.fpm.dp_rank = -1;
    std::string text;
    append_trace_line(text, record);
    const Story story = read(text);
    CHECK(story.rest == Texts{"refused 1@0: bad_fpm: negative"});
    CHECK(story.counts.refused_fpm[static_cast<std::size_t>(FpmError::negative)] == 1);
}

TEST_CASE("trace reader: the last line needs no line end, but what is no JSON was cut") {
    std::string text = lines(1, 2);
    text.pop_back();
    CHECK(read(text).counters == Counters{1, 2});
    CHECK(read(text).damage.empty());
    const std::string one = lines(1, 1);
    const Story cut = read(one + lines(2, 2).substr(0, 100));
    CHECK(cut.counters == Counters{1});
    CHECK(cut.damage == Texts{"cut_line@" + std::to_string(one.size())});
    CHECK(cut.counts.cut_text_bytes == 100);
    CHECK(cut.counts.lines == 1);
}

TEST_CASE("trace reader: of a cut last member the complete lines before the cut are kept") {
    const std::string first = gzip_member(lines(1, 3));
    const std::string second = gzip_member(lines(4, 400));
    for (const std::size_t kept : {std::size_t{1}, std::size_t{9}, second.size() / 2, second.size() - 1}) {
        const Story story = read(first + second.substr(0, kept));
        REQUIRE(story.counters.size() >= 3);
        CHECK(story.damage == Texts{"cut_member@" + std::to_string(first.size())});
        for (std::size_t i = 0; i < story.counters.size(); ++i)
            CHECK(story.counters[i] == static_cast<int>(i) + 1);
        CHECK(story.counts.lines == story.counters.size());
    }
    CHECK(read(first + second.substr(0, second.size() / 2)).counters.size() > 100);
}

TEST_CASE("trace reader: after a damaged member it goes on at the next one") {
    const std::string first = gzip_member(lines(1, 3));
    std::string second = gzip_member(lines(4, 6));
    const std::string third = gzip_member(lines(7, 9));
    for (std::size_t at = 10; at < second.size(); ++at) {
        std::string damaged = second;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
        for (const std::size_t piece : {std::size_t{1} << 16U, std::size_t{20}}) {
            const Story story = read(first + damaged + third, piece);
            REQUIRE(story.counters.size() >= 6);
            CHECK(story.counters[2] == 3);
            CHECK(story.counters.back() == 9);
            CHECK(story.counters[story.counters.size() - 3] == 7);
            REQUIRE(!story.damage.empty());
            CHECK(story.damage[0] == "bad_member@" + std::to_string(first.size()));
        }
    }
}

TEST_CASE("trace reader: garbage between and after members is named, the members are read") {
    const std::string first = gzip_member(lines(1, 1));
    const Story story = read(first + std::string(100, '\0') + gzip_member(lines(2, 2)) + "end");
    CHECK(story.counters == Counters{1, 2});
    REQUIRE(story.damage.size() == 2);
    CHECK(story.damage[0] == "trailing_garbage@" + std::to_string(first.size()));
}

TEST_CASE("trace reader: garbage with a thousand false headers stays cheap and keeps sixteen damages") {
    std::string bytes = gzip_member(lines(1, 1));
    for (int i = 0; i < 1000; ++i) bytes += std::string{"\x1f\x8b\x08\0\0\0\0\0\0\xff", 10} + "garbage";
    const Story story = read(bytes + gzip_member(lines(2, 2)));
    CHECK(story.counters == Counters{1, 2});
    CHECK(story.damage.size() == TraceReader::damages_kept);
    CHECK(story.counts.damages == 1000);
}

TEST_CASE("trace reader: a line longer than the limit is skipped and counted, its neighbours are read") {
    TraceReaderLimits limits;
    limits.line_bytes_max = 2000;
    const std::string text =
        lines(1, 1) + std::string(500'000, 'x') + "\n" + lines(2, 2) + std::string(2001, 'y');
    for (const bool zipped : {false, true}) {
        for (const std::size_t piece : {std::size_t{100}, std::size_t{1} << 16U}) {
            const Story story = read(zipped ? gzip_member(text) : text, piece, limits);
            CHECK(story.counters == Counters{1, 2});
            CHECK(story.rest.size() == 2);
            CHECK(story.rest[0] == "refused 2@" + std::to_string(lines(1, 1).size()) + ": too_long");
            CHECK(story.counts.refused[static_cast<std::size_t>(TraceLineCause::too_long)] == 2);
            CHECK(story.counts.lines == 4);
        }
    }
}

TEST_CASE("trace reader: a gzip bomb is stopped at the expansion limit") {
    TraceReaderLimits limits;
    limits.expansion_max = 100;
    limits.expansion_free_bytes = 1 << 20;
    const std::string good = gzip_member(lines(1, 2));
    for (const char content : {'\n', '{'}) {
        const std::string bomb = gzip_member(std::string(50'000'000, content));
        const Story story = read(good + bomb + gzip_member(lines(3, 3)), 4096, limits);
        CHECK(story.counters == Counters{1, 2});
        CHECK(story.damage == Texts{"expansion_limit@" + std::to_string(good.size())});
        CHECK(story.counts.empty_lines < 10'000'000);
    }
    CHECK(read(good + gzip_member(std::string(50'000, '\n')) + gzip_member(lines(3, 3)), 4096, limits)
              .counters == Counters{1, 2, 3});
}

TEST_CASE("trace writer: members of complete lines, refusing what no reader takes") {
    TraceWriter writer;
    CHECK(writer.take_member().empty());
    REQUIRE(writer.append(record_of(1)).has_value());
    REQUIRE(writer.append(record_of(2)).has_value());
    TraceRecord bad = record_of(3);
    bad.fpm.pass.counter_id = -1;
    CHECK(writer.append(bad).error() == FpmError::negative);
    bad = record_of(3);
    bad.fpm.version = 2;
    CHECK(writer.append(bad).error() == FpmError::unsupported_version);
    CHECK_FALSE(writer.flush_due());
    const std::string bytes = writer.take_member();
    CHECK(writer.empty());
    CHECK(gunzip(bytes, 1 << 20) == lines(1, 2));
    for (int i = 0; !writer.flush_due(); ++i) REQUIRE(writer.append(record_of(i)).has_value());
    CHECK(writer.text_bytes() >= trace_flush_bytes);
    CHECK(read(bytes + writer.take_member()).counters.size() > 1000);
}

TEST_CASE(
    "trace writer: a segment is full before the line that would pass the roll size, unless it is empty") {
    CHECK_FALSE(trace_segment_full(0, 10, 5));
    CHECK_FALSE(trace_segment_full(90, 10, 100));
    CHECK(trace_segment_full(91, 10, 100));
    CHECK(trace_segment_full(1, 101, 100));
    CHECK(trace_segment_full(~0ULL, ~0ULL, 100));
}

}  // namespace
}  // namespace dynaplan::wire
