#include "fuzz/envelope_twin.hpp"

#include <algorithm>
#include <exception>
#include <msgpack.hpp>
#include <set>

#include "fuzz/twin_utf8.hpp"

namespace dynaplan::fuzz {

namespace {

using wire::EnvelopeError;
using Object = msgpack::object;

struct Refused {
    EnvelopeError error;
};

std::string text_of(const Object& object) { return {object.via.str.ptr, object.via.str.size}; }

std::uint64_t number_of(const Object& value) {
    if (value.type != msgpack::type::POSITIVE_INTEGER) throw Refused{EnvelopeError::wrong_type};
    return value.via.u64;
}

void read_member(const std::string& name, const Object& value, wire::JsonEnvelope& out) {
    if (name == "publisher_id") out.publisher_id = number_of(value);
    if (name == "sequence") out.sequence = number_of(value);
    if (name == "published_at") out.published_at = number_of(value);
    if (name == "topic") {
        if (value.type != msgpack::type::STR) throw Refused{EnvelopeError::wrong_type};
        out.topic = text_of(value);
        if (!valid_utf8(out.topic)) throw Refused{EnvelopeError::bad_utf8};
    }
    if (name == "payload") {
        if (value.type == msgpack::type::STR) {
            out.payload = text_of(value);
        } else if (value.type == msgpack::type::BIN) {
            out.payload.assign(value.via.bin.ptr, value.via.bin.size);
        } else {
            throw Refused{EnvelopeError::wrong_type};
        }
    }
}

const char* const names[] = {"publisher_id", "sequence", "published_at", "topic", "payload"};

void read_array(const msgpack::object_array& array, wire::JsonEnvelope& out) {
    for (std::uint32_t i = 0; i < std::min<std::uint32_t>(array.size, 5); ++i) {
        read_member(names[i], array.ptr[i], out);
    }
    if (array.size < 5) throw Refused{EnvelopeError::missing_field};
    if (array.size > 5) throw Refused{EnvelopeError::wrong_type};
}

void read_map(const msgpack::object_map& map, wire::JsonEnvelope& out) {
    const std::set<std::string> known{std::begin(names), std::end(names)};
    std::set<std::string> seen;
    for (std::uint32_t i = 0; i < map.size; ++i) {
        const auto& pair = map.ptr[i];
        if (pair.key.type != msgpack::type::STR) throw Refused{EnvelopeError::bad_key};
        const std::string name = text_of(pair.key);
        if (!valid_utf8(name)) throw Refused{EnvelopeError::bad_utf8};
        if (!known.contains(name)) continue;
        if (!seen.insert(name).second) throw Refused{EnvelopeError::duplicate_field};
        read_member(name, pair.val, out);
    }
    if (seen.size() != known.size()) throw Refused{EnvelopeError::missing_field};
}

}  // namespace

EnvelopeTwinAnswer twin_decode_envelope(std::string_view bytes) {
    EnvelopeTwinAnswer answer;
    // Counts and lengths beyond the message cannot come true; msgpack-c must not allocate for them.
    const std::size_t most = bytes.size();
    const msgpack::unpack_limit limit{most, most, most, most, most, most};
    std::size_t used = 0;
    msgpack::object_handle handle;
    try {
        handle = msgpack::unpack(bytes.data(), bytes.size(), used, nullptr, nullptr, limit);
    } catch (const std::exception&) {
        return answer;
    }
    answer.well_formed = true;
    try {
        const Object& root = handle.get();
        if (root.type == msgpack::type::MAP) {
            read_map(root.via.map, answer.envelope);
        } else if (root.type == msgpack::type::ARRAY) {
            read_array(root.via.array, answer.envelope);
        } else {
            throw Refused{EnvelopeError::bad_root};
        }
    } catch (const Refused& refused) {
        answer.error = refused.error;
    }
    return answer;
}

}  // namespace dynaplan::fuzz
