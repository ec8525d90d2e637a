// A bounds-checked cursor over MessagePack bytes, for the hot path: one pass, no copy, no allocation, no
// recursion. Each read either takes one whole value and answers ok, or says why not; after a failure the
// cursor stands somewhere inside the value and is of no more use. Written after the MessagePack
// specification; checked against msgpack-c on random and damaged messages (tests/fuzz).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace dynaplan::wire {

class MsgpackCursor {
public:
    enum class Status : std::uint8_t { ok, truncated, wrong_type, reserved_byte };

    // An integer of any width; 2^63 and more keep their bits and say so.
    struct Integer {
        std::int64_t value = 0;
        bool beyond_int64 = false;
        [[nodiscard]] double as_double() const {
            return beyond_int64 ? static_cast<double>(static_cast<std::uint64_t>(value))
                                : static_cast<double>(value);
        }
    };

    explicit MsgpackCursor(std::string_view bytes)
        : at_{reinterpret_cast<const unsigned char*>(bytes.data())}, end_{at_ + bytes.size()} {}

    [[nodiscard]] std::size_t remaining() const { return static_cast<std::size_t>(end_ - at_); }
    [[nodiscard]] bool at_end() const { return at_ == end_; }

    Status read_integer(Integer& out) {
        if (at_end()) return Status::truncated;
        const unsigned char head = *at_++;
        out.beyond_int64 = false;
        if (head <= 0x7f) {
            out.value = head;
            return Status::ok;
        }
        if (head >= 0xe0) {
            out.value = static_cast<std::int8_t>(head);
            return Status::ok;
        }
        switch (head) {
            case 0xcc: return fixed<std::uint8_t>(out);
            case 0xcd: return fixed<std::uint16_t>(out);
            case 0xce: return fixed<std::uint32_t>(out);
            case 0xcf: {
                const Status status = fixed<std::uint64_t>(out);
                out.beyond_int64 = status == Status::ok && out.value < 0;
                return status;
            }
            case 0xd0: return fixed<std::int8_t>(out);
            case 0xd1: return fixed<std::int16_t>(out);
            case 0xd2: return fixed<std::int32_t>(out);
            case 0xd3: return fixed<std::int64_t>(out);
            default: return mismatch(head);
        }
    }

    // f64, f32 and any integer, widened.
    Status read_float(double& out) {
        if (at_end()) return Status::truncated;
        if (*at_ == 0xcb) {
            if (remaining() < 9) return Status::truncated;
            ++at_;
            out = std::bit_cast<double>(big_endian<std::uint64_t>());
            return Status::ok;
        }
        if (*at_ == 0xca) {
            if (remaining() < 5) return Status::truncated;
            ++at_;
            out = static_cast<double>(std::bit_cast<float>(big_endian<std::uint32_t>()));
            return Status::ok;
        }
        Integer integer;
        const Status status = read_integer(integer);
        if (status == Status::ok) out = integer.as_double();
        return status;
    }

    // A str, its text unchecked. The view points into the message.
    Status read_str(std::string_view& out) {
        if (at_end()) return Status::truncated;
        const unsigned char head = *at_++;
        std::uint64_t size = head & 0x1fU;
        if (head < 0xa0 || head > 0xbf) {
            Status status{};
            switch (head) {
                case 0xd9: status = length<std::uint8_t>(size); break;
                case 0xda: status = length<std::uint16_t>(size); break;
                case 0xdb: status = length<std::uint32_t>(size); break;
                default: return mismatch(head);
            }
            if (status != Status::ok) return status;
        }
        if (size > remaining()) return Status::truncated;
        out = {reinterpret_cast<const char*>(at_), static_cast<std::size_t>(size)};
        at_ += size;
        return Status::ok;
    }

    // A bin. The view points into the message.
    Status read_bin(std::string_view& out) {
        if (at_end()) return Status::truncated;
        const unsigned char head = *at_++;
        std::uint64_t size = 0;
        Status status{};
        switch (head) {
            case 0xc4: status = length<std::uint8_t>(size); break;
            case 0xc5: status = length<std::uint16_t>(size); break;
            case 0xc6: status = length<std::uint32_t>(size); break;
            default: return mismatch(head);
        }
        if (status != Status::ok) return status;
        if (size > remaining()) return Status::truncated;
        out = {reinterpret_cast<const char*>(at_), static_cast<std::size_t>(size)};
        at_ += size;
        return Status::ok;
    }

    // The head of an array; the values follow. The count is only a claim.
    Status read_array_head(std::uint64_t& values) {
        if (at_end()) return Status::truncated;
        const unsigned char head = *at_++;
        if (head >= 0x90 && head <= 0x9f) {
            values = head & 0x0fU;
            return Status::ok;
        }
        if (head == 0xdc) return length<std::uint16_t>(values);
        if (head == 0xdd) return length<std::uint32_t>(values);
        return mismatch(head);
    }

    // The head of a map; the pairs follow. The count is only a claim.
    Status read_map_head(std::uint64_t& pairs) {
        if (at_end()) return Status::truncated;
        const unsigned char head = *at_++;
        if (head >= 0x80 && head <= 0x8f) {
            pairs = head & 0x0fU;
            return Status::ok;
        }
        if (head == 0xde) return length<std::uint16_t>(pairs);
        if (head == 0xdf) return length<std::uint32_t>(pairs);
        return mismatch(head);
    }

    [[nodiscard]] bool next_is_map() const {
        return !at_end() && ((*at_ >= 0x80 && *at_ <= 0x8f) || *at_ == 0xde || *at_ == 0xdf);
    }

    [[nodiscard]] bool next_is_array() const {
        return !at_end() && ((*at_ >= 0x90 && *at_ <= 0x9f) || *at_ == 0xdc || *at_ == 0xdd);
    }

    [[nodiscard]] bool next_is_str() const {
        return !at_end() && ((*at_ >= 0xa0 && *at_ <= 0xbf) || (*at_ >= 0xd9 && *at_ <= 0xdb));
    }

    // Takes n bytes when they are exactly these. In place and eight at a time: a call of memcmp for each key
    // would cost half of the decoder's time.
    template <std::size_t n>
    [[gnu::always_inline]] bool take_if_same(const char (&bytes)[n]) {
        if (remaining() < n) return false;
        std::uint64_t difference = 0;
        std::size_t i = 0;
        for (; i + 8 <= n; i += 8)
            difference |= load<std::uint64_t>(at_ + i) ^ load<std::uint64_t>(bytes + i);
        if constexpr (n % 8 != 0) {
            if constexpr (n >= 8) {  // the last eight once more
                difference |= load<std::uint64_t>(at_ + n - 8) ^ load<std::uint64_t>(bytes + n - 8);
            } else {
                for (; i < n; ++i) difference |= at_[i] ^ static_cast<unsigned char>(bytes[i]);
            }
        }
        if (difference != 0) return false;
        at_ += n;
        return true;
    }

    // Any well-formed value of any depth: structure and lengths are checked, text is not. How deep it nests
    // does not matter, since it is enough to count the values still owed.
    Status skip();

private:
    static Status mismatch(unsigned char head) {
        return head == 0xc1 ? Status::reserved_byte : Status::wrong_type;
    }

    template <class T>
    static T load(const void* from) {
        T raw{};
        std::memcpy(&raw, from, sizeof(T));
        return raw;
    }

    template <class T>
    T big_endian() {
        T raw = load<T>(at_);
        at_ += sizeof(T);
        if constexpr (std::endian::native == std::endian::little) {
            if constexpr (sizeof(T) == 2) raw = __builtin_bswap16(raw);
            if constexpr (sizeof(T) == 4) raw = __builtin_bswap32(raw);
            if constexpr (sizeof(T) == 8) raw = __builtin_bswap64(raw);
        }
        return raw;
    }

    template <class T>
    Status fixed(Integer& out) {
        using Unsigned = std::make_unsigned_t<T>;
        if (remaining() < sizeof(T)) return Status::truncated;
        out.value = static_cast<std::int64_t>(static_cast<T>(big_endian<Unsigned>()));
        return Status::ok;
    }

    template <class T>
    Status length(std::uint64_t& out) {
        if (remaining() < sizeof(T)) return Status::truncated;
        out = big_endian<T>();
        return Status::ok;
    }

    const unsigned char* at_;
    const unsigned char* end_;
};

}  // namespace dynaplan::wire
