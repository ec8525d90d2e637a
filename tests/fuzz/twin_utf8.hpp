// UTF-8 a second time, byte by byte after RFC 3629, for the twins of the decoders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dynaplan::fuzz {

inline bool valid_utf8(std::string_view text) {
    std::size_t i = 0;
    while (i < text.size()) {
        const auto lead = static_cast<unsigned char>(text[i]);
        const unsigned more = lead < 0x80   ? 0
                              : lead < 0xc0 ? 9
                              : lead < 0xe0 ? 1
                              : lead < 0xf0 ? 2
                              : lead < 0xf8 ? 3
                                            : 9;
        if (more > 3 || i + more >= text.size()) return false;
        std::uint32_t code = more == 0 ? lead : lead & (0x3fU >> more);
        for (unsigned k = 1; k <= more; ++k) {
            const auto next = static_cast<unsigned char>(text[i + k]);
            if ((next & 0xc0U) != 0x80U) return false;
            code = code << 6U | (next & 0x3fU);
        }
        constexpr std::uint32_t smallest[] = {0, 0x80, 0x800, 0x10000};
        if (code < smallest[more] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return false;
        i += more + 1;
    }
    return true;
}

}  // namespace dynaplan::fuzz
