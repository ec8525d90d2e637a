#include "wire/instance_id.hpp"

#include <charconv>
#include <cstddef>

namespace dynaplan::wire {

namespace {

// SipHash with one round for each word and three at the end; written after the description by Aumasson and
// Bernstein.
class SipHash13 {
public:
    void word(std::uint64_t m) {
        v3_ ^= m;
        round();
        v0_ ^= m;
    }
    std::uint64_t finish() {
        v2_ ^= 0xff;
        round();
        round();
        round();
        return v0_ ^ v1_ ^ v2_ ^ v3_;
    }

private:
    static std::uint64_t rotated(std::uint64_t x, unsigned by) { return (x << by) | (x >> (64U - by)); }
    void round() {
        v0_ += v1_;
        v1_ = rotated(v1_, 13) ^ v0_;
        v0_ = rotated(v0_, 32);
        v2_ += v3_;
        v3_ = rotated(v3_, 16) ^ v2_;
        v0_ += v3_;
        v3_ = rotated(v3_, 21) ^ v0_;
        v2_ += v1_;
        v1_ = rotated(v1_, 17) ^ v2_;
        v2_ = rotated(v2_, 32);
    }

    // The four initial words, "somepseudorandomlygeneratedbytes"; a zero key leaves them as they are.
    std::uint64_t v0_ = 0x736f6d6570736575ULL;
    std::uint64_t v1_ = 0x646f72616e646f6dULL;
    std::uint64_t v2_ = 0x6c7967656e657261ULL;
    std::uint64_t v3_ = 0x7465646279746573ULL;
};

}  // namespace

std::string hex_of_id(std::uint64_t id) {
    char text[16];
    const auto end = std::to_chars(text, text + sizeof text, id, 16);
    return {text, end.ptr};
}

std::string worker_id_of(std::uint64_t id) { return std::to_string(id); }

std::optional<std::uint64_t> id_from_hex(std::string_view hex) {
    constexpr std::size_t digits_max = 16;
    if (hex.empty() || hex.size() > digits_max) return std::nullopt;
    std::uint64_t id = 0;
    const auto read = std::from_chars(hex.data(), hex.data() + hex.size(), id, 16);
    if (read.ec != std::errc{} || read.ptr != hex.data() + hex.size()) return std::nullopt;
    return id;
}

std::uint64_t kube_instance_id(std::string_view resource_name) {
    std::string bytes{resource_name};
    bytes += '\xff';  // how the publishers' hasher closes a text
    SipHash13 hash;
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        word |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8U * (i % 8));
        if (i % 8 == 7) {
            hash.word(word);
            word = 0;
        }
    }
    // The last word holds what is left over, and the length's low byte at its top.
    hash.word(word | static_cast<std::uint64_t>(bytes.size() & 0xffU) << 56U);
    constexpr std::uint64_t low_53_bits = (1ULL << 53U) - 1;
    return hash.finish() & low_53_bits;
}

}  // namespace dynaplan::wire
