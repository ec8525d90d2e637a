#include "wire/fpm_as_written.hpp"

#include <cstddef>
#include <cstring>

#include "wire/msgpack_cursor.hpp"
#include "wire/utf8.hpp"

namespace dynaplan::wire {

namespace {

// A key with the byte that announces a short str in front. `n` counts the text's terminating zero, so it is
// the length with the head byte.
template <std::size_t n>
struct WireKey {
    char bytes[n]{};
    consteval WireKey(const char (&text)[n]) {
        static_assert(n - 1 < 32, "the short str form holds up to 31 bytes");
        bytes[0] = static_cast<char>(0xa0 | (n - 1));
        for (std::size_t i = 0; i + 1 < n; ++i) bytes[i + 1] = text[i];
    }
};

class AsWritten {
public:
    AsWritten(std::string_view message, DecodedFpm& out) : cursor_{message}, out_{out} {}

    bool run() {
        Fpm& fpm = out_.fpm;
        ScheduledRequests& s = fpm.pass.scheduled;
        QueuedRequests& q = fpm.pass.queued;
        const bool ok =
            head(0x87) && key<"version">() && integer(fpm.version) && key<"worker_id">() && worker_id() &&
            key<"dp_rank">() && integer(fpm.dp_rank) && key<"counter_id">() && integer(fpm.pass.counter_id) &&
            key<"wall_time">() && real(fpm.pass.wall_time) && key<"scheduled_requests">() && head(0x87) &&
            key<"num_prefill_requests">() && integer(s.num_prefill_requests) && key<"sum_prefill_tokens">() &&
            integer(s.sum_prefill_tokens) && key<"var_prefill_length">() && real(s.var_prefill_length) &&
            key<"sum_prefill_kv_tokens">() && integer(s.sum_prefill_kv_tokens) &&
            key<"num_decode_requests">() && integer(s.num_decode_requests) && key<"sum_decode_kv_tokens">() &&
            integer(s.sum_decode_kv_tokens) && key<"var_decode_kv_tokens">() &&
            real(s.var_decode_kv_tokens) && key<"queued_requests">() && head(0x86) &&
            key<"num_prefill_requests">() && integer(q.num_prefill_requests) && key<"sum_prefill_tokens">() &&
            integer(q.sum_prefill_tokens) && key<"var_prefill_length">() && real(q.var_prefill_length) &&
            key<"num_decode_requests">() && integer(q.num_decode_requests) && key<"sum_decode_kv_tokens">() &&
            integer(q.sum_decode_kv_tokens) && key<"var_decode_kv_tokens">() && real(q.var_decode_kv_tokens);
        if (!ok || !cursor_.at_end()) return false;
        if (fpm.version != 1) return false;
        out_.beyond_int64 = 0;
        out_.has_engine_key = true;
        return true;
    }

private:
    bool head(unsigned char byte) { return cursor_.take_if_same({static_cast<char>(byte)}); }
    template <WireKey wire_key>
    bool key() {
        return cursor_.take_if_same(wire_key.bytes);
    }
    bool integer(std::int64_t& member) {
        MsgpackCursor::Integer read;
        // Integers beyond int64 are left to the general path, which marks them.
        if (cursor_.read_integer(read) != MsgpackCursor::Status::ok || read.beyond_int64) return false;
        member = read.value;
        return true;
    }
    bool real(double& member) { return cursor_.read_float(member) == MsgpackCursor::Status::ok; }
    bool worker_id() {
        std::string_view text;
        if (cursor_.read_str(text) != MsgpackCursor::Status::ok || !is_utf8(text)) return false;
        out_.fpm.worker_id.assign(text);
        return true;
    }

    MsgpackCursor cursor_;
    DecodedFpm& out_;
};

}  // namespace

bool decode_as_written(std::string_view message, DecodedFpm& out) { return AsWritten{message, out}.run(); }

}  // namespace dynaplan::wire
