// The fields of an FPM in wire order, as tables: names, members, and a bit for each integer (event-plane
// specification 1.1). Every reader and writer of an FPM walks these, so that a field cannot be known to one
// form and not to another; proto/fpm.md is checked against them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/fpm.hpp"

namespace dynaplan::wire {

// Bits of DecodedFpm::beyond_int64: version, dp_rank, counter_id, then the integers of both blocks.
inline constexpr unsigned version_bit = 0;
inline constexpr unsigned dp_rank_bit = 1;
inline constexpr unsigned counter_id_bit = 2;

enum class FpmField : std::uint8_t {
    version,
    worker_id,
    dp_rank,
    counter_id,
    wall_time,
    scheduled_requests,
    queued_requests,
};
inline constexpr std::array<std::string_view, 7> fpm_fields{
    "version", "worker_id", "dp_rank", "counter_id", "wall_time", "scheduled_requests", "queued_requests"};

// One field of a block: an integer or a float, the other member pointer is null.
template <class Block>
struct BlockField {
    std::string_view name;
    std::int64_t Block::*integer = nullptr;
    double Block::*real = nullptr;
    unsigned bit = 0;  // of an integer
};

inline constexpr std::array<BlockField<ScheduledRequests>, 7> scheduled_fields{{
    {"num_prefill_requests", &ScheduledRequests::num_prefill_requests, nullptr, 3},
    {"sum_prefill_tokens", &ScheduledRequests::sum_prefill_tokens, nullptr, 4},
    {"var_prefill_length", nullptr, &ScheduledRequests::var_prefill_length},
    {"sum_prefill_kv_tokens", &ScheduledRequests::sum_prefill_kv_tokens, nullptr, 5},
    {"num_decode_requests", &ScheduledRequests::num_decode_requests, nullptr, 6},
    {"sum_decode_kv_tokens", &ScheduledRequests::sum_decode_kv_tokens, nullptr, 7},
    {"var_decode_kv_tokens", nullptr, &ScheduledRequests::var_decode_kv_tokens},
}};
inline constexpr std::array<BlockField<QueuedRequests>, 6> queued_fields{{
    {"num_prefill_requests", &QueuedRequests::num_prefill_requests, nullptr, 8},
    {"sum_prefill_tokens", &QueuedRequests::sum_prefill_tokens, nullptr, 9},
    {"var_prefill_length", nullptr, &QueuedRequests::var_prefill_length},
    {"num_decode_requests", &QueuedRequests::num_decode_requests, nullptr, 10},
    {"sum_decode_kv_tokens", &QueuedRequests::sum_decode_kv_tokens, nullptr, 11},
    {"var_decode_kv_tokens", nullptr, &QueuedRequests::var_decode_kv_tokens},
}};
inline constexpr std::uint16_t scheduled_bits = 0x00f8;
inline constexpr std::uint16_t queued_bits = 0x0f00;

constexpr std::string_view name_of(std::string_view field) { return field; }
template <class Block>
constexpr std::string_view name_of(const BlockField<Block>& field) {
    return field.name;
}

// The index of `key` in a table, the table's size when it is unknown. Writers keep the order, so the field
// after the last one is tried first.
template <class Table>
std::size_t find_field(const Table& table, std::string_view key, std::size_t likely) {
    const auto is = [key](std::string_view name) {
        return name.size() == key.size() && std::memcmp(name.data(), key.data(), key.size()) == 0;
    };
    if (likely < table.size() && is(name_of(table[likely]))) return likely;
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (is(name_of(table[i]))) return i;
    }
    return table.size();
}

// Calls v(name, member, bit) for each integer and v(name, member) for each float of a block, in wire order.
template <class Table, class Block, class Visitor>
void visit_fields(const Table& table, Block& block, Visitor&& v) {
    for (const auto& field : table) {
        if (field.integer != nullptr) {
            v(field.name, block.*field.integer, field.bit);
        } else {
            v(field.name, block.*field.real);
        }
    }
}

}  // namespace dynaplan::wire
