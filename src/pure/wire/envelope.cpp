#include "wire/envelope.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <msgpack.hpp>

#include "core/assert.hpp"
#include "wire/msgpack_cursor.hpp"
#include "wire/utf8.hpp"

namespace dynaplan::wire {

namespace {

using Status = MsgpackCursor::Status;

// In the order of writing, which is also the order of the array form.
constexpr std::array<std::string_view, 5> names{"publisher_id", "sequence", "published_at", "topic",
                                                "payload"};

EnvelopeError error_of(Status status) {
    switch (status) {
        case Status::reserved_byte: return EnvelopeError::reserved_byte;
        case Status::wrong_type: return EnvelopeError::wrong_type;
        default: return EnvelopeError::truncated;
    }
}

Status read_unsigned(MsgpackCursor& cursor, std::uint64_t& out) {
    MsgpackCursor::Integer read;
    const Status status = cursor.read_integer(read);
    if (status != Status::ok) return status;
    if (read.value < 0 && !read.beyond_int64) return Status::wrong_type;
    out = static_cast<std::uint64_t>(read.value);
    return Status::ok;
}

// Stops at the first error; `error_` names it.
class Decoder {
public:
    Decoder(std::string_view bytes, Envelope& out) : cursor_{bytes}, out_{out} {}

    EnvelopeResult run() {
        out_ = Envelope{};
        const bool read = cursor_.next_is_map() ? map() : cursor_.next_is_array() ? array() : no_root();
        if (!read) return tl::unexpected{error_};
        return {};
    }

private:
    bool fail(EnvelopeError error) {
        error_ = error;
        return false;
    }
    bool check(Status status) { return status == Status::ok || fail(error_of(status)); }

    // A readable root of another type is bad_root; an unreadable one has its own error.
    bool no_root() { return check(cursor_.skip()) && fail(EnvelopeError::bad_root); }

    // Each pair takes at least two bytes, each value one: a larger claim is refused before anything is read.
    bool claim(std::uint64_t bytes) { return bytes <= cursor_.remaining() || fail(EnvelopeError::truncated); }

    bool array() {
        std::uint64_t values = 0;
        if (!check(cursor_.read_array_head(values)) || !claim(values)) return false;
        const std::uint64_t known = std::min<std::uint64_t>(values, names.size());
        for (std::size_t i = 0; i < known; ++i) {
            if (!member(i)) return false;
        }
        if (values < names.size()) return fail(EnvelopeError::missing_field);
        return values == names.size() || fail(EnvelopeError::wrong_type);
    }

    bool map() {
        std::uint64_t pairs = 0;
        if (!check(cursor_.read_map_head(pairs)) || !claim(2 * pairs)) return false;
        std::array<bool, names.size()> seen{};
        std::size_t likely = 0;  // writers use one order: look there first
        for (std::uint64_t i = 0; i < pairs; ++i) {
            std::string_view key;
            if (const Status status = cursor_.read_str(key); status != Status::ok) {
                return fail(status == Status::wrong_type ? EnvelopeError::bad_key : error_of(status));
            }
            std::size_t at = likely;
            if (at >= names.size() || names[at] != key) {
                at = static_cast<std::size_t>(std::find(names.begin(), names.end(), key) - names.begin());
            }
            if (at == names.size()) {
                if (!is_utf8(key)) return fail(EnvelopeError::bad_utf8);
                if (!check(cursor_.skip())) return false;
                continue;
            }
            if (seen[at]) return fail(EnvelopeError::duplicate_field);
            seen[at] = true;
            if (!member(at)) return false;
            likely = at + 1;
        }
        const bool complete = std::all_of(seen.begin(), seen.end(), [](bool s) { return s; });
        return complete || fail(EnvelopeError::missing_field);
    }

    bool member(std::size_t at) {
        switch (at) {
            case 0: return check(read_unsigned(cursor_, out_.publisher_id));
            case 1: return check(read_unsigned(cursor_, out_.sequence));
            case 2: return check(read_unsigned(cursor_, out_.published_at));
            case 3:
                if (!check(cursor_.read_str(out_.topic))) return false;
                return is_utf8(out_.topic) || fail(EnvelopeError::bad_utf8);
            default:
                // Nobody sends a str, and one era reads it: it costs nothing to do so too.
                if (cursor_.next_is_str()) return check(cursor_.read_str(out_.payload));
                return check(cursor_.read_bin(out_.payload));
        }
    }

    MsgpackCursor cursor_;
    Envelope& out_;
    EnvelopeError error_{};
};

// The literal's bytes without its closing zero.
template <std::size_t n>
[[gnu::always_inline]] inline bool take(MsgpackCursor& cursor, const char (&literal)[n]) {
    char bytes[n - 1];
    std::copy_n(literal, n - 1, bytes);
    return cursor.take_if_same(bytes);
}

// False when the bytes are in any way other than publishers write them.
bool decode_as_written(std::string_view bytes, Envelope& out) {
    MsgpackCursor cursor{bytes};
    return take(cursor,
                "\x85\xac"
                "publisher_id") &&
           read_unsigned(cursor, out.publisher_id) == Status::ok &&
           take(cursor,
                "\xa8"
                "sequence") &&
           read_unsigned(cursor, out.sequence) == Status::ok &&
           take(cursor,
                "\xac"
                "published_at") &&
           read_unsigned(cursor, out.published_at) == Status::ok &&
           take(cursor,
                "\xa5"
                "topic") &&
           cursor.read_str(out.topic) == Status::ok && is_utf8(out.topic) &&
           take(cursor,
                "\xa7"
                "payload") &&
           cursor.read_bin(out.payload) == Status::ok;
}

struct StringSink {
    std::string& out;
    void write(const char* bytes, std::size_t size) { out.append(bytes, size); }
};

}  // namespace

std::string_view to_string(EnvelopeError error) {
    switch (error) {
        case EnvelopeError::truncated: return "truncated";
        case EnvelopeError::wrong_type: return "wrong_type";
        case EnvelopeError::bad_root: return "bad_root";
        case EnvelopeError::bad_key: return "bad_key";
        case EnvelopeError::bad_utf8: return "bad_utf8";
        case EnvelopeError::reserved_byte: return "reserved_byte";
        case EnvelopeError::missing_field: return "missing_field";
        case EnvelopeError::duplicate_field: return "duplicate_field";
        case EnvelopeError::bad_json: return "bad_json";
    }
    return "unknown";
}

EnvelopeResult decode_envelope_any_order(std::string_view bytes, Envelope& out) {
    return Decoder{bytes, out}.run();
}

EnvelopeResult decode_envelope(std::string_view bytes, Envelope& out) {
    if (decode_as_written(bytes, out)) return {};
    return decode_envelope_any_order(bytes, out);
}

void encode_envelope(const Envelope& envelope, std::string& out) {
    constexpr std::uint64_t bin_max = std::numeric_limits<std::uint32_t>::max();
    DYNAPLAN_ASSERT(envelope.topic.size() <= bin_max && envelope.payload.size() <= bin_max);
    StringSink sink{out};
    msgpack::packer<StringSink> packer{sink};
    const auto text = [&](std::string_view value) {
        packer.pack_str(static_cast<std::uint32_t>(value.size()));
        packer.pack_str_body(value.data(), static_cast<std::uint32_t>(value.size()));
    };
    packer.pack_map(static_cast<std::uint32_t>(names.size()));
    text(names[0]), packer.pack_uint64(envelope.publisher_id);
    text(names[1]), packer.pack_uint64(envelope.sequence);
    text(names[2]), packer.pack_uint64(envelope.published_at);
    text(names[3]), text(envelope.topic);
    text(names[4]);
    packer.pack_bin(static_cast<std::uint32_t>(envelope.payload.size()));
    packer.pack_bin_body(envelope.payload.data(), static_cast<std::uint32_t>(envelope.payload.size()));
}

}  // namespace dynaplan::wire
