#include "wire/msgpack_cursor.hpp"

namespace dynaplan::wire {

MsgpackCursor::Status MsgpackCursor::skip() {
    std::uint64_t owed = 1;  // values
    while (owed > 0) {
        if (at_end()) return Status::truncated;
        --owed;
        const unsigned char head = *at_++;
        std::uint64_t bytes = 0;   // of content that follows
        std::uint64_t values = 0;  // that follow
        Status status = Status::ok;
        if (head <= 0x7f || head >= 0xe0) {
            continue;
        } else if (head <= 0x8f) {
            values = 2 * (head & 0x0fULL);
        } else if (head <= 0x9f) {
            values = head & 0x0fU;
        } else if (head <= 0xbf) {
            bytes = head & 0x1fU;
        } else {
            switch (head) {
                case 0xc0:
                case 0xc2:
                case 0xc3: break;
                case 0xc4:
                case 0xd9: status = length<std::uint8_t>(bytes); break;
                case 0xc5:
                case 0xda: status = length<std::uint16_t>(bytes); break;
                case 0xc6:
                case 0xdb: status = length<std::uint32_t>(bytes); break;
                // An extension has a byte for its type before the content.
                case 0xc7: status = length<std::uint8_t>(bytes), ++bytes; break;
                case 0xc8: status = length<std::uint16_t>(bytes), ++bytes; break;
                case 0xc9: status = length<std::uint32_t>(bytes), ++bytes; break;
                case 0xd4: bytes = 2; break;
                case 0xd5: bytes = 3; break;
                case 0xd6: bytes = 5; break;
                case 0xd7: bytes = 9; break;
                case 0xd8: bytes = 17; break;
                case 0xcc:
                case 0xd0: bytes = 1; break;
                case 0xcd:
                case 0xd1: bytes = 2; break;
                case 0xca:
                case 0xce:
                case 0xd2: bytes = 4; break;
                case 0xcb:
                case 0xcf:
                case 0xd3: bytes = 8; break;
                case 0xdc: status = length<std::uint16_t>(values); break;
                case 0xdd: status = length<std::uint32_t>(values); break;
                case 0xde: status = length<std::uint16_t>(values), values *= 2; break;
                case 0xdf: status = length<std::uint32_t>(values), values *= 2; break;
                default: return Status::reserved_byte;  // 0xc1, the only one left
            }
        }
        if (status != Status::ok) return status;
        if (bytes > remaining()) return Status::truncated;
        at_ += bytes;
        // Each value takes at least one byte: a larger claim cannot come true.
        owed += values;
        if (owed > remaining()) return Status::truncated;
    }
    return Status::ok;
}

}  // namespace dynaplan::wire
