#include "wire/fpm_decode.hpp"

#include "wire/fpm_as_written.hpp"
#include "wire/fpm_fields.hpp"
#include "wire/msgpack_cursor.hpp"
#include "wire/utf8.hpp"

namespace dynaplan::wire {

namespace {

using Status = MsgpackCursor::Status;

FpmError error_of(Status status) {
    switch (status) {
        case Status::reserved_byte: return FpmError::reserved_byte;
        case Status::wrong_type: return FpmError::wrong_type;
        default: return FpmError::truncated;
    }
}

// Stops at the first error; `failed` and `error` say so.
class Decoder {
public:
    Decoder(std::string_view message, DecodedFpm& out) : cursor_{message}, out_{out} {}

    FpmResult run() {
        reset();
        if (!root() || !trailing() || !version()) return tl::unexpected{error_};
        out_.has_engine_key = !key_lost_ && key_complete();
        return {};
    }

private:
    bool fail(FpmError error) {
        error_ = error;
        return false;
    }
    bool check(Status status) { return status == Status::ok || fail(error_of(status)); }

    void reset() {
        Fpm& fpm = out_.fpm;
        fpm.version = 1;
        fpm.worker_id.clear();
        fpm.dp_rank = 0;
        fpm.pass = ForwardPass{};
        out_.beyond_int64 = 0;
        out_.has_engine_key = false;
    }

    // A readable root of another type is bad_root; an unreadable one has its own error.
    bool root() {
        if (!cursor_.next_is_map()) return check(cursor_.skip()) && fail(FpmError::bad_root);
        std::uint64_t pairs = 0;
        if (!map_head(pairs)) return false;
        std::size_t likely = 0;
        for (std::uint64_t i = 0; i < pairs; ++i) {
            std::string_view key;
            if (!read_key(key)) return false;
            const std::size_t field = find_field(fpm_fields, key, likely);
            if (field == fpm_fields.size()) {
                if (!unknown(key)) return false;
                continue;
            }
            if (!known(static_cast<FpmField>(field))) return false;
            likely = field + 1;
        }
        return true;
    }

    bool known(FpmField field) {
        Fpm& fpm = out_.fpm;
        switch (field) {
            case FpmField::version: return integer(fpm.version, version_bit);
            case FpmField::worker_id: return worker_id();
            case FpmField::dp_rank: return dp_rank();
            case FpmField::counter_id: return integer(fpm.pass.counter_id, counter_id_bit);
            case FpmField::wall_time: return check(cursor_.read_float(fpm.pass.wall_time));
            case FpmField::scheduled_requests:
                return block(scheduled_fields, fpm.pass.scheduled, scheduled_bits);
            case FpmField::queued_requests: return block(queued_fields, fpm.pass.queued, queued_bits);
        }
        return true;
    }

    // A repeated block replaces the earlier one as a whole.
    template <class Table, class Block>
    bool block(const Table& table, Block& values, std::uint16_t bits) {
        values = Block{};
        out_.beyond_int64 = static_cast<std::uint16_t>(out_.beyond_int64 & ~bits);
        std::uint64_t pairs = 0;
        if (!map_head(pairs)) return false;
        std::size_t likely = 0;
        for (std::uint64_t i = 0; i < pairs; ++i) {
            std::string_view key;
            if (!read_key(key)) return false;
            const std::size_t at = find_field(table, key, likely);
            if (at == table.size()) {
                if (!unknown(key)) return false;
                continue;
            }
            const auto& field = table[at];
            const bool taken = field.integer != nullptr ? integer(values.*field.integer, field.bit)
                                                        : check(cursor_.read_float(values.*field.real));
            if (!taken) return false;
            likely = at + 1;
        }
        return true;
    }

    // Each pair takes at least two bytes: a larger claim is refused before anything is read for it.
    bool map_head(std::uint64_t& pairs) {
        if (!check(cursor_.read_map_head(pairs))) return false;
        return 2 * pairs <= cursor_.remaining() || fail(FpmError::truncated);
    }

    bool read_key(std::string_view& key) {
        const Status status = cursor_.read_str(key);
        if (status == Status::wrong_type) return fail(FpmError::bad_key);
        return check(status);
    }

    bool unknown(std::string_view key) {
        if (!is_utf8(key)) return fail(FpmError::bad_utf8);
        return check(cursor_.skip());
    }

    bool integer(std::int64_t& member, unsigned bit) {
        MsgpackCursor::Integer read;
        if (!check(cursor_.read_integer(read))) return false;
        member = read.value;
        const auto mask = static_cast<std::uint16_t>(1U << bit);
        out_.beyond_int64 = static_cast<std::uint16_t>(read.beyond_int64 ? out_.beyond_int64 | mask
                                                                         : out_.beyond_int64 & ~mask);
        return true;
    }

    bool worker_id() {
        std::string_view text;
        if (!check(cursor_.read_str(text))) return false;
        if (!is_utf8(text)) return fail(FpmError::bad_utf8);
        out_.fpm.worker_id.assign(text);
        worker_id_seen_ = true;
        return true;
    }

    bool dp_rank() {
        if (!integer(out_.fpm.dp_rank, dp_rank_bit)) return false;
        // The scan of 1.3 gives up on a rank beyond int64, unless it has its key already.
        if ((out_.beyond_int64 & (1U << dp_rank_bit)) != 0 && !key_complete()) key_lost_ = true;
        dp_rank_seen_ = true;
        return true;
    }

    [[nodiscard]] bool key_complete() const { return worker_id_seen_ && dp_rank_seen_; }

    bool trailing() { return cursor_.at_end() || fail(FpmError::trailing_bytes); }
    bool version() {
        const bool supported = out_.fpm.version == 1 && (out_.beyond_int64 & (1U << version_bit)) == 0;
        return supported || fail(FpmError::unsupported_version);
    }

    MsgpackCursor cursor_;
    DecodedFpm& out_;
    FpmError error_{};
    bool worker_id_seen_ = false;
    bool dp_rank_seen_ = false;
    bool key_lost_ = false;
};

}  // namespace

FpmResult decode_fpm_any_order(std::string_view message, DecodedFpm& out) {
    return Decoder{message, out}.run();
}

FpmResult decode_fpm(std::string_view message, DecodedFpm& out) {
    if (decode_as_written(message, out)) return {};
    return decode_fpm_any_order(message, out);
}

bool scan_engine_key(std::string_view message, EngineKey& out) {
    MsgpackCursor cursor{message};
    std::uint64_t pairs = 0;
    if (cursor.read_map_head(pairs) != Status::ok) return false;
    bool worker_id_seen = false;
    bool dp_rank_seen = false;
    for (std::uint64_t i = 0; i < pairs; ++i) {
        std::string_view key;
        if (cursor.read_str(key) != Status::ok) return false;
        if (key == "worker_id") {
            std::string_view text;
            if (cursor.read_str(text) != Status::ok || !is_utf8(text)) return false;
            out.worker_id.assign(text);
            worker_id_seen = true;
        } else if (key == "dp_rank") {
            MsgpackCursor::Integer rank;
            if (cursor.read_integer(rank) != Status::ok || rank.beyond_int64) return false;
            out.dp_rank = rank.value;
            dp_rank_seen = true;
        } else if (cursor.skip() != Status::ok) {
            return false;
        }
        if (worker_id_seen && dp_rank_seen) return true;
    }
    return false;
}

}  // namespace dynaplan::wire
