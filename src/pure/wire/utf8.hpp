// Is a text valid UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF)?
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace dynaplan::wire {

bool is_utf8_beyond_ascii(std::string_view text);  // any text; the slow question

// Engine ids are short and ASCII, so that is asked first, eight bytes at a time.
inline bool is_utf8(std::string_view text) {
    constexpr std::uint64_t high_bits = 0x8080808080808080;
    std::size_t i = 0;
    for (; i + 8 <= text.size(); i += 8) {
        std::uint64_t eight = 0;
        std::memcpy(&eight, text.data() + i, 8);
        if ((eight & high_bits) != 0) return is_utf8_beyond_ascii(text);
    }
    for (; i < text.size(); ++i) {
        if ((static_cast<unsigned char>(text[i]) & 0x80U) != 0) return is_utf8_beyond_ascii(text);
    }
    return true;
}

}  // namespace dynaplan::wire
