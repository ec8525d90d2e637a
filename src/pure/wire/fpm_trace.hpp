// One line of Dynamo's FPM trace files (event-plane specification 11, proto/fpm_trace.md): a report with the
// time at which it was observed and where it came from. Files are read by wire/fpm_trace_reader.hpp and
// written by wire/fpm_trace_writer.hpp; their names are the matter of wire/fpm_trace_path.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "core/fpm.hpp"
#include "wire/fpm_error.hpp"

namespace dynaplan::wire {

inline constexpr std::string_view fpm_trace_schema = "dynamo.fpm.trace.v1";

struct TraceRecord {
    std::int64_t timestamp_ms = 0;  // since the writer started: not a date, and not comparable between files
    std::string name_space;         // the producer's; empty when the line has no source
    std::string component;          // gives the role
    std::string producer_id;
    std::string capture_mode;              // "sampled" or "full"
    std::int64_t observed_at_unix_ms = 0;  // the time to use
    Fpm fpm;
    bool operator==(const TraceRecord&) const = default;
};

enum class TraceLineCause : std::uint8_t {
    bad_json,       // not JSON
    other_line,     // JSON, but not a record of this schema: perhaps a line of the step protocol
    missing_field,  // observed_at_unix_ms or fpm is missing
    wrong_type,     // a member of the record around the report has another type
    out_of_range,   // a time of 2^63 or more
    bad_fpm,        // the report itself is refused
    too_long,       // longer than the reader's limit; only from a reader
};
inline constexpr int trace_line_cause_count = static_cast<int>(TraceLineCause::too_long) + 1;

std::string_view to_string(TraceLineCause);

struct TraceLineError {
    TraceLineCause cause{};
    FpmError fpm{};  // meaningful when the cause is bad_fpm
    bool operator==(const TraceLineError&) const = default;
};

// "bad_fpm: negative", "missing_field".
std::string describe(TraceLineError);

using TraceLineResult = tl::expected<void, TraceLineError>;

// Reads lines one at a time and keeps its buffers: 400,000 lines a second and more, no allocation once the
// strings have grown. Not shared between threads.
//
// Missing members of the report take the FPM defaults, a missing timestamp is 0, a missing source is empty
// texts; observed_at_unix_ms and fpm must be there. Unknown members are skipped.
class TraceLineParser {
public:
    TraceLineParser();
    ~TraceLineParser();
    TraceLineParser(TraceLineParser&&) noexcept;
    TraceLineParser& operator=(TraceLineParser&&) noexcept;

    // `line` with or without its line end. After an error `out` must not be used.
    TraceLineResult parse(std::string_view line, TraceRecord& out);

private:
    struct Parser;
    std::unique_ptr<Parser> parser_;
};

// The same for a single line; builds a parser for it.
TraceLineResult parse_trace_line(std::string_view line, TraceRecord& out);

// Appends the record as one line, line end included, with the members in the order in which Dynamo writes
// them.
void append_trace_line(std::string& out, const TraceRecord& record);

}  // namespace dynaplan::wire
