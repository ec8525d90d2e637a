// MessagePack bytes for the tests, put together by hand, so that a test also says what msgpack-c never
// writes.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "core/fpm.hpp"

namespace dynaplan::wire::test {

inline std::string byte(unsigned value) { return {static_cast<char>(value)}; }

inline std::string big_endian(std::uint64_t value, unsigned bytes) {
    std::string out;
    for (unsigned i = bytes; i > 0; --i) out += static_cast<char>(value >> (8 * (i - 1)));
    return out;
}
inline std::string str(std::string_view text) {
    return byte(0xa0U | static_cast<unsigned>(text.size())).append(text);
}
inline std::string map(unsigned pairs) { return byte(0x80U | pairs); }
inline std::string u64(std::uint64_t value) { return byte(0xcf) + big_endian(value, 8); }
inline std::string i64(std::int64_t value) {
    return byte(0xd3) + big_endian(static_cast<std::uint64_t>(value), 8);
}
inline std::string f64(double value) {
    return byte(0xcb) + big_endian(std::bit_cast<std::uint64_t>(value), 8);
}
inline std::string f32(float value) {
    return byte(0xca) + big_endian(std::bit_cast<std::uint32_t>(value), 4);
}
inline const std::string nil = byte(0xc0);

using Pairs = std::initializer_list<std::pair<std::string_view, std::string>>;

// A map whose keys are short strs and whose values are given as bytes.
inline std::string message(Pairs pairs) {
    std::string out = map(static_cast<unsigned>(pairs.size()));
    for (const auto& [key, value] : pairs) out.append(str(key)).append(value);
    return out;
}

// A report with every field set to something of its own.
inline Fpm sample_fpm() {
    Fpm fpm;
    fpm.worker_id = "7587890125863921413";
    fpm.dp_rank = 3;
    fpm.pass.counter_id = 42;
    fpm.pass.wall_time = 0.018734;
    fpm.pass.scheduled = {2, 3072, 262144.0, 1024, 17, 70211, 1843.25};
    fpm.pass.queued = {3, 9001, 12.5, 1, 4096, 0.5};
    return fpm;
}

}  // namespace dynaplan::wire::test
