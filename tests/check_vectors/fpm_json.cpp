#include "check_vectors/fpm_json.hpp"

#include <array>
#include <bit>
#include <cstdint>

#include "check_vectors/compare.hpp"
#include "wire/fpm_fields.hpp"

namespace dynaplan::check_vectors {

namespace {

using nlohmann::json;

int nibble(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

struct FieldWriter {
    json& object;
    std::uint16_t beyond_int64;
    void operator()(std::string_view name, std::int64_t value, unsigned bit) {
        json& member = object[std::string{name}];
        if ((beyond_int64 & (1U << bit)) != 0) {
            member = static_cast<std::uint64_t>(value);
        } else {
            member = value;
        }
    }
    void operator()(std::string_view name, double value) { object[std::string{name}] = json_of(value); }
};

struct BitsWriter {
    json& object;
    std::string prefix;
    void operator()(std::string_view, std::int64_t, unsigned) {}
    void operator()(std::string_view name, double value) {
        const auto bits = std::bit_cast<std::uint64_t>(value);
        if (bits == 0) return;
        std::string bytes;
        for (unsigned shift = 64; shift > 0; shift -= 8) bytes += static_cast<char>(bits >> (shift - 8));
        object[prefix + std::string{name}] = hex_of(bytes);
    }
};

}  // namespace

std::optional<std::string> bytes_of_hex(std::string_view hex) {
    if (hex.size() % 2 != 0) return std::nullopt;
    std::string bytes;
    bytes.reserve(hex.size() / 2);
    for (std::size_t i = 0; i < hex.size(); i += 2) {
        const int high = nibble(hex[i]);
        const int low = nibble(hex[i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        bytes += static_cast<char>(high * 16 + low);
    }
    return bytes;
}

std::string hex_of(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string hex;
    hex.reserve(2 * bytes.size());
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        hex += digits[byte >> 4U];
        hex += digits[byte & 0xfU];
    }
    return hex;
}

json fpm_to_json(const wire::DecodedFpm& message) {
    const Fpm& fpm = message.fpm;
    json fields = json::object();
    FieldWriter write{fields, message.beyond_int64};
    write("version", fpm.version, wire::version_bit);
    fields["worker_id"] = fpm.worker_id;
    write("dp_rank", fpm.dp_rank, wire::dp_rank_bit);
    write("counter_id", fpm.pass.counter_id, wire::counter_id_bit);
    write("wall_time", fpm.pass.wall_time);
    wire::visit_fields(wire::scheduled_fields, fpm.pass.scheduled,
                       FieldWriter{fields["scheduled_requests"], message.beyond_int64});
    wire::visit_fields(wire::queued_fields, fpm.pass.queued,
                       FieldWriter{fields["queued_requests"], message.beyond_int64});
    return fields;
}

json float_bits(const Fpm& fpm) {
    json bits = json::object();
    BitsWriter{bits, ""}("wall_time", fpm.pass.wall_time);
    wire::visit_fields(wire::scheduled_fields, fpm.pass.scheduled, BitsWriter{bits, "scheduled_requests."});
    wire::visit_fields(wire::queued_fields, fpm.pass.queued, BitsWriter{bits, "queued_requests."});
    return bits;
}

}  // namespace dynaplan::check_vectors
