// A segment that lost its end is read up to there; one that is damaged inside is refused. Everything here is
// made by damaging one small segment at every place.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "json_event_equal.hpp"
#include "json_event_samples.hpp"
#include "wire/journal_bytes.hpp"
#include "wire/journal_reader.hpp"
#include "wire/journal_writer.hpp"

namespace dynaplan::wire {

namespace {

struct Segment {
    std::string bytes;
    std::size_t header = 0;           // its size
    std::vector<std::size_t> starts;  // of each record
};

Segment small_segment() {
    Segment s;
    JournalWriter writer;
    const auto starts_here = [&] { s.starts.push_back(s.bytes.size()); };
    writer.append_header(s.bytes, {0, 0, "0.1.0", "{}"});
    s.header = s.bytes.size();
    starts_here();
    writer.append_checkpoint(s.bytes, at_seconds(0.0), "state of the planner", "and of the coordinator");
    const Event fpm{at_seconds(1.5), FpmArrived{Role::decode, sample_fpm()}};
    std::string engine_and_fpm;
    starts_here();
    writer.append_event(s.bytes, fpm);
    for (int i = 0; i < 3; ++i) {
        starts_here();
        writer.append_event(s.bytes, fpm);
    }
    starts_here();
    writer.append_event(s.bytes, {at_seconds(5.0), TickDue{}});
    starts_here();
    writer.append_effect(s.bytes, {at_seconds(5.0), WakeAt{at_seconds(10.0)}});
    starts_here();
    writer.append_note(s.bytes, at_seconds(6.0), JournalNote::remark, 0, "the end");
    return s;
}

struct Outcome {
    std::size_t items = 0;
    JournalItem last;     // torn_tail or end
    std::string message;  // of damage
};

Outcome read_all(std::string_view bytes) {
    Outcome o;
    auto reader = JournalReader::open(bytes);
    REQUIRE(reader);
    Event out;
    for (;;) {
        const auto item = reader->next(out);
        if (!item) {
            o.message = item.error().message;
            REQUIRE(reader->next(out).error().message == o.message);
            return o;
        }
        o.last = *item;
        if (item->kind == JournalItemKind::end || item->kind == JournalItemKind::torn_tail) {
            REQUIRE(reader->next(out)->kind == item->kind);
            return o;
        }
        ++o.items;
    }
}

std::string record(std::uint8_t kind, std::string_view body) {
    std::string sealed;
    put_fixed(sealed, kind);
    put_varint(sealed, body.size());
    sealed += body;
    std::string out = "\xd7\x4a";
    put_fixed(out, crc32_of(sealed));
    return out + sealed;
}

std::string after_header(std::string_view records) {
    const Segment s = small_segment();
    return s.bytes.substr(0, s.header) + std::string{records};
}

}  // namespace

TEST_CASE("journal damage: a segment cut at any place is read up to there") {
    const Segment s = small_segment();
    CHECK(read_all(s.bytes).last.kind == JournalItemKind::end);
    CHECK(read_all(s.bytes).items == 8);
    for (std::size_t n = s.header; n < s.bytes.size(); ++n) {
        INFO(n);
        const Outcome o = read_all(std::string_view{s.bytes}.substr(0, n));
        CHECK(o.message.empty());
        std::size_t whole = 0;
        while (whole + 1 < s.starts.size() && s.starts[whole + 1] <= n) ++whole;
        CHECK(o.items == whole);
        if (o.last.kind == JournalItemKind::torn_tail) {
            CHECK(o.last.text == "the record is cut off");
            CHECK(o.last.offset >= s.starts[whole]);
            CHECK(o.last.offset < n);
        } else {
            CHECK(o.last.offset == n);
        }
    }
}

TEST_CASE("journal damage: any flipped bit before the last record is named with its record's offset") {
    const Segment s = small_segment();
    for (std::size_t i = s.header; i < s.starts.back(); ++i) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            INFO(i, " ", bit);
            std::string bad = s.bytes;
            bad[i] = static_cast<char>(static_cast<unsigned char>(bad[i]) ^ (1U << bit));
            const Outcome o = read_all(bad);
            CHECK(o.message.starts_with("journal offset "));
            CHECK(o.message.ends_with(": the segment is damaged"));
            const std::size_t named = std::stoul(o.message.substr(15));
            CHECK(named <= i);
            CHECK(named + 80 > i);
        }
    }
}

TEST_CASE("journal damage: a bad last record is a torn tail") {
    const Segment s = small_segment();
    for (std::size_t i = s.starts.back(); i < s.bytes.size(); ++i) {
        INFO(i);
        std::string bad = s.bytes;
        bad[i] = static_cast<char>(bad[i] ^ 0x10);
        const Outcome o = read_all(bad);
        CHECK(o.message.empty());
        CHECK(o.last.kind == JournalItemKind::torn_tail);
        CHECK(o.last.offset == s.starts.back());
        CHECK(o.items == 7);
    }
    // What a file system leaves after a power cut.
    const Outcome zeros = read_all(s.bytes + std::string(4096, '\0'));
    CHECK(zeros.last.kind == JournalItemKind::torn_tail);
    CHECK(zeros.last.offset == s.bytes.size());
    CHECK(zeros.last.text == "the record's checksum is wrong");
    CHECK(zeros.items == 8);
}

TEST_CASE("journal damage: a length of 10 GB is a claim, not an allocation") {
    const Segment s = small_segment();
    std::string claim = "\xd7\x4a";
    put_fixed(claim, std::uint32_t{0x12345678});
    put_fixed(claim, std::uint8_t{1});
    put_varint(claim, 10'000'000'000);
    Outcome o = read_all(s.bytes + claim + "rest");
    CHECK(o.last.kind == JournalItemKind::torn_tail);
    CHECK(o.last.offset == s.bytes.size());
    o = read_all(after_header(claim + "rest" + record(6, std::string(10, '\0'))));
    CHECK(o.message == "journal offset " + std::to_string(s.header) +
                           ": the record is cut off, but valid records follow at offset " +
                           std::to_string(s.header + claim.size() + 4) + ": the segment is damaged");
}

TEST_CASE("journal damage: bytes crafted to look like records everywhere are given up in linear time") {
    const std::size_t claims = 20'000;
    std::string bytes;
    std::string one = "\xd7\x4a";
    put_fixed(one, std::uint32_t{1});
    put_fixed(one, std::uint8_t{1});
    put_varint(one, claims * 4);
    for (std::size_t i = 0; i < claims; ++i) bytes += one;
    const Outcome o = read_all(after_header(bytes));
    CHECK(o.message.ends_with("what follows is too damaged to be searched"));
}

TEST_CASE("journal damage: a sound record that makes no sense is refused by its offset") {
    const std::size_t at = small_segment().header;
    const std::string place = "journal offset " + std::to_string(at) + ": ";
    const std::string t(8, '\0');
    const auto message = [&](std::uint8_t kind, std::string_view body) {
        return read_all(after_header(record(kind, body) + record(6, std::string(10, '\0')))).message;
    };
    CHECK(message(7, "") == place + "record kind 7 is not known here");
    CHECK(message(0, "") == place + "record kind 0 is not known here");
    CHECK(message(1, t) == place + "the checkpoint record is malformed");
    CHECK(message(1, t + "\x05"
                         "abc") == place + "the checkpoint record is malformed");
    CHECK(message(6, t) == place + "the note record is malformed");
    CHECK(message(2, "") == place + "the engine record is malformed");
    CHECK(message(2, std::string_view{"\0\2\0w", 4}) == place + "the engine record is malformed");
    CHECK(message(2, std::string_view{"\1\0\0w", 4}) == place + "engine 1 is named where engine 0 is due");
    CHECK(message(3, t + std::string(3, '\0')) == place + "engine 0 has not been named in this segment");
    CHECK(message(3, t + std::string(2, '\0')) == place + "the fpm record is malformed");
    CHECK(message(3, t + std::string(4, '\0')) == place + "the fpm record is malformed");
    for (const double none : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
        std::string at_none;
        put_f64(at_none, none);
        CHECK(message(1, at_none + '\0') == place + "the checkpoint record has a time that is not finite");
        CHECK(message(6, at_none + "\2" + '\0') == place + "the note record has a time that is not finite");
        const std::string engine = record(2, std::string_view{"\0\1\0w", 4});
        CHECK(read_all(after_header(engine + record(3, at_none + std::string(3, '\0')))).message ==
              "journal offset " + std::to_string(at + engine.size()) +
                  ": the fpm record has a time that is not finite");
    }
    CHECK(message(4, "{").starts_with(place + "event: not JSON: "));
    CHECK(message(4, R"({"t":1,"event":"fpm","role":"decode","fpm":{}})") ==
          place + "event: an FPM that is not admitted");
}

TEST_CASE("journal damage: varints beyond 64 bits are refused") {
    const auto read = [](std::string_view bytes) {
        ByteCursor in{bytes};
        const std::uint64_t v = in.varint();
        return in.ok() ? std::optional{v} : std::nullopt;
    };
    CHECK(read("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01") == UINT64_MAX);
    CHECK(read("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02") == std::nullopt);
    CHECK(read("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01") == std::nullopt);
    CHECK(read("\x80") == std::nullopt);
    CHECK(read("") == std::nullopt);
    for (const std::int64_t v : {std::int64_t{0}, std::int64_t{-1}, INT64_MIN, INT64_MAX}) {
        CHECK(unzigzag(zigzag(v)) == v);
    }
}

}  // namespace dynaplan::wire
