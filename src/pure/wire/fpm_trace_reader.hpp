// Reads a trace file whose bytes are handed in piece by piece: JSON lines, plain or gzip with any number of
// members (event-plane specification 11). Opens no file itself.
//
//     reader.feed(bytes)...
//     for (;;) switch (reader.next()) { case record: use reader.record(); ...
//                                       case need_more: feed again, or finish() at the end of the file;
//                                       case end: done; look at counts() and damage() }
//
// Memory is bounded whatever the bytes say: one line (limits.line_bytes_max), 64 KiB of decompressed text,
// what was fed and is not yet used, and up to 4 MiB of what was (to look for the next member after damage). A
// gzip bomb runs into limits.expansion_max. Nothing is lost silently: refused lines are counted by cause and
// reported one by one, damage of the container is kept with its offset.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "wire/fpm_trace.hpp"

namespace dynaplan::wire {

struct TraceReaderLimits {
    std::size_t line_bytes_max = std::size_t{1} << 20U;  // a record takes 600 bytes
    // Deflate can expand 1032 times, lines of heartbeats compress 20 to 60 times. The rule applies once a
    // file has given `expansion_free_bytes` of text.
    std::uint64_t expansion_max = 400;
    std::uint64_t expansion_free_bytes = std::uint64_t{64} << 20U;
};

enum class TraceDamageKind : std::uint8_t {
    cut_member,  // the file ends inside a gzip member: a killed writer; complete lines before it are kept
    bad_member,  // a member's data or checksum is wrong; reading went on at the next member found
    trailing_garbage,  // bytes after a member that do not begin another; reading went on at the next one
                       // found
    expansion_limit,   // a gzip bomb: the rest of the file was not read
    cut_line,          // the last line has no line end and is not JSON: a killed writer of plain text
};
std::string_view to_string(TraceDamageKind);

struct TraceDamage {
    TraceDamageKind kind{};
    // Bytes from the start of the file to the member or to the first byte of the garbage; of a cut line, from
    // the start of the text.
    std::uint64_t offset = 0;
    bool operator==(const TraceDamage&) const = default;
};

struct TraceCounts {
    std::uint64_t lines = 0;        // all but empty ones
    std::uint64_t empty_lines = 0;  // skipped
    std::uint64_t records = 0;
    std::uint64_t other_lines = 0;
    std::array<std::uint64_t, trace_line_cause_count> refused{};  // by TraceLineCause; other_line stays 0
    std::array<std::uint64_t, fpm_error_count> refused_fpm{};     // bad_fpm by its FpmError
    std::uint64_t cut_text_bytes = 0;  // text of an incomplete line before damage, not used
    std::uint64_t damages = 0;         // the first damages_kept of them are kept with their offsets
};

class TraceReader {
public:
    enum class Step : std::uint8_t {
        record,     // record() holds a report
        other,      // text() is a line of JSON that is not a trace record
        refused,    // error() says why, text() shows the line (empty for too_long)
        need_more,  // feed more bytes, or call finish()
        end,        // everything was read
    };
    static constexpr std::size_t damages_kept = 16;

    explicit TraceReader(TraceReaderLimits limits = {});
    ~TraceReader();
    TraceReader(TraceReader&&) noexcept;
    TraceReader& operator=(TraceReader&&) noexcept;

    void feed(std::string_view bytes);  // copies them
    void finish();                      // there are no more
    Step next();

    // Valid until the next call of next() or feed().
    [[nodiscard]] const TraceRecord& record() const;
    [[nodiscard]] TraceRecord& record();  // the caller may take its strings
    [[nodiscard]] std::string_view text() const;
    [[nodiscard]] TraceLineError error() const;
    [[nodiscard]] std::uint64_t line_number() const;  // from 1, empty lines counted
    [[nodiscard]] std::uint64_t line_offset() const;  // in the text, after decompression

    [[nodiscard]] const TraceCounts& counts() const;
    [[nodiscard]] const std::vector<TraceDamage>& damage() const;  // empty: the file was sound
    [[nodiscard]] bool compressed() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace dynaplan::wire
