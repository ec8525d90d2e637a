// Writes trace segments as bytes: gzip, one member per flush, as Dynamo's writer does (event-plane
// specification 11). Files, names and the oldest segment's removal are the caller's.
#pragma once

#include <cstdint>
#include <string>

#include "wire/fpm_trace.hpp"

namespace dynaplan::wire {

inline constexpr std::size_t trace_flush_bytes = std::size_t{1} << 20U;  // of text, then a member is due
inline constexpr std::uint64_t trace_roll_bytes_default = std::uint64_t{268435456};  // of text per segment

// A new segment begins before the line that would pass the roll size, unless the segment is empty: a line
// that is longer than the roll size gets a segment of its own.
constexpr bool trace_segment_full(std::uint64_t segment_text_bytes, std::uint64_t line_bytes,
                                  std::uint64_t roll_bytes) {
    return segment_text_bytes > 0 &&
           (line_bytes > roll_bytes || segment_text_bytes > roll_bytes - line_bytes);
}

class TraceWriter {
public:
    // Refuses, with admit's cause, what Dynamo's writer would not write and no reader would take.
    FpmResult append(const TraceRecord& record);

    // A member is due: call take_member and write it.
    [[nodiscard]] bool flush_due() const { return text_.size() >= trace_flush_bytes; }
    [[nodiscard]] bool empty() const { return text_.empty(); }
    [[nodiscard]] std::size_t text_bytes() const { return text_.size(); }

    // The lines since the last call as one complete gzip member; empty when there are none.
    std::string take_member();

private:
    std::string text_;
};

}  // namespace dynaplan::wire
