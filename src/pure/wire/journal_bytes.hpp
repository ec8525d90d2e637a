// Little-endian numbers and varints in the journal's bytes: what its writer and its reader agree on.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <zlib.h>

namespace dynaplan::wire {

template <class Unsigned>
void put_fixed(std::string& out, Unsigned v) {
    std::array<char, sizeof(Unsigned)> bytes;
    for (std::size_t i = 0; i < sizeof(Unsigned); ++i) {
        bytes[i] = static_cast<char>(static_cast<unsigned char>(v >> (8 * i)));
    }
    out.append(bytes.data(), bytes.size());
}

inline void put_f64(std::string& out, double v) { put_fixed(out, std::bit_cast<std::uint64_t>(v)); }

inline void put_varint(std::string& out, std::uint64_t v) {
    std::array<char, 10> bytes;
    std::size_t n = 0;
    for (; v >= 0x80; v >>= 7U) bytes[n++] = static_cast<char>(static_cast<unsigned char>(v | 0x80U));
    bytes[n++] = static_cast<char>(static_cast<unsigned char>(v));
    out.append(bytes.data(), n);
}

// Small negative numbers stay short: 0, -1, 1, -2 become 0, 1, 2, 3.
constexpr std::uint64_t zigzag(std::int64_t v) {
    return (static_cast<std::uint64_t>(v) << 1U) ^ static_cast<std::uint64_t>(v >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t v) {
    return static_cast<std::int64_t>((v >> 1U) ^ (0 - (v & 1U)));
}

inline std::uint32_t crc32_of(std::string_view bytes) {
    return static_cast<std::uint32_t>(
        ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// Reads from the front of a piece of bytes and never beyond it. Once something was missing, ok() stays false
// and everything reads as 0.
class ByteCursor {
public:
    explicit ByteCursor(std::string_view bytes) : at_{bytes.data()}, end_{bytes.data() + bytes.size()} {}

    [[nodiscard]] bool ok() const { return ok_; }
    [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

    template <class Unsigned>
    Unsigned fixed() {
        if (left() < sizeof(Unsigned)) return fail();
        Unsigned v = 0;
        for (std::size_t i = 0; i < sizeof(Unsigned); ++i) {
            v = static_cast<Unsigned>(v | static_cast<Unsigned>(static_cast<Unsigned>(byte(i)) << (8 * i)));
        }
        at_ += sizeof(Unsigned);
        return v;
    }
    std::uint8_t u8() { return fixed<std::uint8_t>(); }
    double f64() { return std::bit_cast<double>(fixed<std::uint64_t>()); }

    std::uint64_t varint() {
        std::uint64_t v = 0;
        for (unsigned shift = 0; shift < 70 && at_ != end_; shift += 7) {
            const std::uint64_t b = byte(0);
            ++at_;
            if (shift == 63 && b > 1) break;  // beyond 64 bits
            v |= (b & 0x7fU) << shift;
            if (b < 0x80) return v;
        }
        return fail();
    }
    std::string_view take(std::uint64_t n) {
        if (n > left()) {
            fail();
            return {};
        }
        const std::string_view v{at_, static_cast<std::size_t>(n)};
        at_ += n;
        return v;
    }
    std::string_view rest() { return take(left()); }

private:
    [[nodiscard]] unsigned char byte(std::size_t i) const { return static_cast<unsigned char>(at_[i]); }
    std::uint8_t fail() {
        ok_ = false;
        at_ = end_;
        return 0;
    }

    const char* at_;
    const char* end_;
    bool ok_ = true;
};

}  // namespace dynaplan::wire
