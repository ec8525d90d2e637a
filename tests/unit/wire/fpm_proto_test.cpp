// proto/fpm.md and proto/fpm_trace.md say what the code does: every table and every sample of theirs is
// tried.
#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include "proto_page.hpp"
#include "wire/fpm_admit.hpp"
#include "wire/fpm_decode.hpp"
#include "wire/fpm_fields.hpp"
#include "wire/fpm_json.hpp"
#include "wire/fpm_trace_path.hpp"
#include "wire/fpm_trace_reader.hpp"
#include "wire/fpm_trace_writer.hpp"

namespace dynaplan::wire {
namespace {

using namespace test;

template <class Field>
void check_row(const Row& row, const Field& field) {
    CHECK(row[0] == field.name);
    CHECK(row[1] == (field.integer != nullptr ? "int" : "float"));
    CHECK(row[3] == (field.integer != nullptr ? "0" : "0.0"));
}

TEST_CASE("proto/fpm.md: the fields are those of the code, in order, with their types and defaults") {
    const auto tables = tables_of("fpm.md").at("key");
    REQUIRE(tables.size() == 3);
    REQUIRE(tables[0].size() == fpm_fields.size());
    const std::vector<std::string> types{"int", "str", "int", "int", "float", "map", "map"};
    for (std::size_t i = 0; i < fpm_fields.size(); ++i) {
        CHECK(tables[0][i][0] == fpm_fields[i]);
        CHECK(tables[0][i][1] == types[i]);
    }
    std::string defaults = "{";
    for (std::size_t i = 0; i < 5; ++i) {
        defaults += (i > 0 ? ",\"" : "\"") + tables[0][i][0] + "\":" + tables[0][i][3];
    }
    std::string ours;
    append_fpm_json(ours, Fpm{});
    CHECK(ours.starts_with(defaults));
    REQUIRE(tables[1].size() == scheduled_fields.size());
    for (std::size_t i = 0; i < scheduled_fields.size(); ++i) check_row(tables[1][i], scheduled_fields[i]);
    REQUIRE(tables[2].size() == queued_fields.size());
    for (std::size_t i = 0; i < queued_fields.size(); ++i) check_row(tables[2][i], queued_fields[i]);
}

TEST_CASE("proto/fpm.md: the sample bytes are the sample objects") {
    const auto bytes = blocks_of("fpm.md", "hex");
    const auto objects = blocks_of("fpm.md", "json");
    REQUIRE(bytes.size() == 3);
    REQUIRE(objects.size() == bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        DecodedFpm message;
        REQUIRE(decode_fpm(bytes_of(bytes[i]), message).has_value());
        REQUIRE(admit(message).has_value());
        std::string expected = objects[i];
        std::erase_if(expected, [](char c) { return c == ' ' || c == '\n'; });
        std::string written;
        append_fpm_json(written, message.fpm);
        CHECK(written == expected);
    }
}

TEST_CASE("proto/fpm.md: every cause is listed in order, and its samples are refused for it") {
    const auto table = tables_of("fpm.md").at("cause").at(0);
    REQUIRE(table.size() == fpm_error_count);
    for (int i = 0; i < fpm_error_count; ++i) {
        const Row& row = table[static_cast<std::size_t>(i)];
        CHECK(row[0] == to_string(static_cast<FpmError>(i)));
        if (row.size() < 3 || row[2].empty()) continue;
        std::istringstream samples{row[2]};
        for (std::string sample; std::getline(samples, sample, ',');) {
            const std::string bytes =
                sample.find("(none)") == std::string::npos ? bytes_of(sample) : std::string{};
            DecodedFpm message;
            FpmResult result = decode_fpm(bytes, message);
            if (result) result = admit(message);
            REQUIRE_FALSE(result.has_value());
            CHECK(to_string(result.error()) == row[0]);
        }
    }
}

TEST_CASE("proto/fpm_trace.md: the sample line is read and written again") {
    const auto samples = blocks_of("fpm_trace.md", "jsonl");
    REQUIRE(samples.size() == 1);
    TraceRecord record;
    REQUIRE(parse_trace_line(samples[0], record).has_value());
    CHECK(record.component == "backend");
    std::string written;
    append_trace_line(written, record);
    CHECK(written == samples[0]);
    // The members of the table are those of the line, in order.
    std::size_t at = 0;
    const auto tables = tables_of("fpm_trace.md");
    for (const Row& row : tables.at("member").at(0)) {
        const std::size_t found = written.find('"' + row[0].substr(row[0].rfind('.') + 1) + "\":", at);
        REQUIRE(found != std::string::npos);
        at = found;
    }
}

TEST_CASE("proto/fpm_trace.md: causes, kinds of damage, limits and names are those of the code") {
    const auto tables = tables_of("fpm_trace.md");
    const auto& causes = tables.at("cause").at(0);
    REQUIRE(causes.size() == trace_line_cause_count);
    for (std::size_t i = 0; i < causes.size(); ++i) {
        CHECK(causes[i][0] == to_string(static_cast<TraceLineCause>(i)));
    }
    const auto& kinds = tables.at("kind").at(0);
    REQUIRE(kinds.size() == static_cast<std::size_t>(TraceDamageKind::cut_line) + 1);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        CHECK(kinds[i][0] == to_string(static_cast<TraceDamageKind>(i)));
    }
    const TraceReaderLimits limits;
    const std::uint64_t ours[] = {limits.line_bytes_max, limits.expansion_max, limits.expansion_free_bytes,
                                  trace_flush_bytes, trace_roll_bytes_default};
    const auto& stated = tables.at("limit").at(0);
    REQUIRE(stated.size() == std::size(ours));
    for (std::size_t i = 0; i < stated.size(); ++i) CHECK(std::stoull(stated[i][1]) == ours[i]);
    const auto& names = tables.at("output path").at(0);
    REQUIRE(names.size() == 3);
    for (const Row& row : names) CHECK(trace_segment_path(row[0], row[1], std::stoull(row[2])) == row[3]);
}

}  // namespace
}  // namespace dynaplan::wire
