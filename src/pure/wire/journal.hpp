// The journal: every event that entered the core and every effect that it returned, in order.
// proto/journal.md describes the bytes, with a sample; this header holds what its writer and its reader
// share.
//
// A journal is a row of segments, each a file that stands on its own: a header, a checkpoint of the whole
// state, then records.
//
//     header   magic[8]  format u16  crc32 u32  length u32  body[length]
//              body: segment u64, started_unix_ms i64, program version (varint length, text),
//              effective configuration as JSON (the rest)
//     record   0xd7 0x4a  crc32 u32  kind u8  length varint  body[length]
//
// All fixed-width numbers are little-endian; a varint is LEB128, at most ten bytes. A crc32 (zlib's) covers
// everything of its header or record that follows it. A time is the exact f64 of its seconds.
//
//     kind          body
//     1 checkpoint  t f64, planner state (varint length, bytes), coordinator state (the rest)
//     2 engine      index varint, role u8, dp_rank varint (zigzag), worker_id (the rest): names an engine for
//     the
//                   FPMs that follow in this segment; indices count from 0
//     3 fpm         t f64, engine index varint, flags u8, then what the flags announce: see journal_fpm.hpp
//     4 event       any other event, as its line of the step protocol (json_event.hpp)
//     5 effect      an effect as its line (json_effect.hpp, scale_to with "proposal"): compared byte for byte
//     6 note        t f64, note u8, count varint, text (the rest)
//
// Effects follow the event that caused them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/units.hpp"

namespace dynaplan::wire {

// The first byte is not ASCII and the last four change under any newline conversion, as in PNG.
inline constexpr std::array<char, 8> journal_magic{'\x8a', 'D', 'P', 'J', '\r', '\n', '\x1a', '\n'};
inline constexpr std::uint16_t journal_format = 1;
inline constexpr std::array<unsigned char, 2> journal_sync{0xd7, 0x4a};

struct JournalHeader {
    std::uint64_t segment = 0;         // running number within the journal, from 0
    std::int64_t started_unix_ms = 0;  // wall clock at the segment's start; for people, never for decisions
    std::string program_version;
    std::string config_json;  // the effective configuration; the core's fields and everything else
};

enum class JournalRecordKind : std::uint8_t {
    checkpoint = 1,
    engine = 2,
    fpm = 3,
    event = 4,
    effect = 5,
    note = 6,
};

enum class JournalNote : std::uint8_t {
    dropped = 1,  // `count` events came before this place and could not be kept; effects before the next
                  // checkpoint may not match a replay
    remark = 2,   // text for people
};

// True when the bytes begin as a journal does: how `replay` tells one from a trace.
[[nodiscard]] bool looks_like_journal(std::string_view bytes);

}  // namespace dynaplan::wire
