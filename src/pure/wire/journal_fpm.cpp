#include "wire/journal_fpm.hpp"

#include <bit>
#include <cstdint>

namespace dynaplan::wire {

namespace {

enum Flag : unsigned {
    has_version = 0x01,
    has_wall_time = 0x02,
    has_scheduled_counts = 0x04,
    has_scheduled_var_prefill = 0x08,
    has_scheduled_var_decode = 0x10,
    has_queued_counts = 0x20,
    has_queued_var_prefill = 0x40,
    has_queued_var_decode = 0x80,
};

// By bits, so that a negative zero is kept.
bool is_set(double v) { return std::bit_cast<std::uint64_t>(v) != 0; }

void put_count(std::string& out, std::int64_t n) { put_varint(out, static_cast<std::uint64_t>(n)); }
std::int64_t count_from(ByteCursor& in) { return static_cast<std::int64_t>(in.varint()); }

unsigned flags_of(const Fpm& fpm) {
    const ForwardPass& p = fpm.pass;
    const ScheduledRequests& s = p.scheduled;
    const QueuedRequests& q = p.queued;
    const bool scheduled = (s.num_prefill_requests | s.sum_prefill_tokens | s.sum_prefill_kv_tokens |
                            s.num_decode_requests | s.sum_decode_kv_tokens) != 0;
    const bool queued =
        (q.num_prefill_requests | q.sum_prefill_tokens | q.num_decode_requests | q.sum_decode_kv_tokens) != 0;
    unsigned flags = 0;
    if (fpm.version != 1) flags |= has_version;
    if (is_set(p.wall_time)) flags |= has_wall_time;
    if (scheduled) flags |= has_scheduled_counts;
    if (is_set(s.var_prefill_length)) flags |= has_scheduled_var_prefill;
    if (is_set(s.var_decode_kv_tokens)) flags |= has_scheduled_var_decode;
    if (queued) flags |= has_queued_counts;
    if (is_set(q.var_prefill_length)) flags |= has_queued_var_prefill;
    if (is_set(q.var_decode_kv_tokens)) flags |= has_queued_var_decode;
    return flags;
}

}  // namespace

void pack_fpm(std::string& out, const Fpm& fpm) {
    const unsigned flags = flags_of(fpm);
    const ScheduledRequests& s = fpm.pass.scheduled;
    const QueuedRequests& q = fpm.pass.queued;
    put_fixed(out, static_cast<std::uint8_t>(flags));
    put_count(out, fpm.pass.counter_id);
    if (flags & has_version) put_count(out, fpm.version);
    if (flags & has_wall_time) put_f64(out, fpm.pass.wall_time);
    if (flags & has_scheduled_counts) {
        put_count(out, s.num_prefill_requests);
        put_count(out, s.sum_prefill_tokens);
        put_count(out, s.sum_prefill_kv_tokens);
        put_count(out, s.num_decode_requests);
        put_count(out, s.sum_decode_kv_tokens);
    }
    if (flags & has_scheduled_var_prefill) put_f64(out, s.var_prefill_length);
    if (flags & has_scheduled_var_decode) put_f64(out, s.var_decode_kv_tokens);
    if (flags & has_queued_counts) {
        put_count(out, q.num_prefill_requests);
        put_count(out, q.sum_prefill_tokens);
        put_count(out, q.num_decode_requests);
        put_count(out, q.sum_decode_kv_tokens);
    }
    if (flags & has_queued_var_prefill) put_f64(out, q.var_prefill_length);
    if (flags & has_queued_var_decode) put_f64(out, q.var_decode_kv_tokens);
}

void unpack_fpm(ByteCursor& in, Fpm& out) {
    const unsigned flags = in.u8();
    out.pass = ForwardPass{};
    ScheduledRequests& s = out.pass.scheduled;
    QueuedRequests& q = out.pass.queued;
    out.pass.counter_id = count_from(in);
    out.version = flags & has_version ? count_from(in) : 1;
    if (flags & has_wall_time) out.pass.wall_time = in.f64();
    if (flags & has_scheduled_counts) {
        s.num_prefill_requests = count_from(in);
        s.sum_prefill_tokens = count_from(in);
        s.sum_prefill_kv_tokens = count_from(in);
        s.num_decode_requests = count_from(in);
        s.sum_decode_kv_tokens = count_from(in);
    }
    if (flags & has_scheduled_var_prefill) s.var_prefill_length = in.f64();
    if (flags & has_scheduled_var_decode) s.var_decode_kv_tokens = in.f64();
    if (flags & has_queued_counts) {
        q.num_prefill_requests = count_from(in);
        q.sum_prefill_tokens = count_from(in);
        q.num_decode_requests = count_from(in);
        q.sum_decode_kv_tokens = count_from(in);
    }
    if (flags & has_queued_var_prefill) q.var_prefill_length = in.f64();
    if (flags & has_queued_var_decode) q.var_decode_kv_tokens = in.f64();
}

}  // namespace dynaplan::wire
