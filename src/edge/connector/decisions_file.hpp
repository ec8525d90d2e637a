// The text of the decisions file: a state and the transactions after it. proto/decisions-file.md describes
// it, with a sample. Only text: the file itself is file_store's.
//
//     dynaplan decisions 1
//     LLLLLLLL CCCCCCCC {...}
//
// L is the length of the JSON text in bytes, C its zlib crc32, both eight hexadecimal digits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "port/decision_store.hpp"

namespace dynaplan::connector {

inline constexpr std::string_view decisions_header = "dynaplan decisions 1\n";

// One line each, appended to `out`.
void append_state_line(std::string& out, const port::StoredState&);
void append_transaction_line(std::string& out, const port::Transaction&);

struct DecisionsFile {
    port::StoredState state;
    std::uint64_t sound_size = 0;  // bytes from the front that make sense; what follows is a torn tail
    std::string torn;              // what the tail looks like; empty when there is none
};

// The whole file. A last line that is cut off or whose checksum is wrong is a torn tail: the program or the
// machine was killed while it was written, so it was never answered as stored. The same with a sound line
// after it is damage, as is a sound line that makes no sense: an Error that names the offset. What is claimed
// in the file allocates no more than the file is long.
[[nodiscard]] Result<DecisionsFile> read_decisions(std::string_view bytes);

}  // namespace dynaplan::connector
