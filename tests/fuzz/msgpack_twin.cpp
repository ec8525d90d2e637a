#include "fuzz/msgpack_twin.hpp"

#include <exception>
#include <map>
#include <msgpack.hpp>
#include <string>

#include "fuzz/twin_utf8.hpp"

namespace dynaplan::fuzz {

namespace {

using wire::FpmError;
using Object = msgpack::object;

std::string_view text_of(const Object& object) { return {object.via.str.ptr, object.via.str.size}; }

struct Refused {
    FpmError error;
};

struct Walker {
    wire::DecodedFpm& out;
    unsigned bit = 0;

    void integer(const Object& value, std::int64_t& member, unsigned at) {
        if (value.type != msgpack::type::POSITIVE_INTEGER && value.type != msgpack::type::NEGATIVE_INTEGER) {
            throw Refused{FpmError::wrong_type};
        }
        const bool big = value.type == msgpack::type::POSITIVE_INTEGER && value.via.u64 > INT64_MAX;
        member = static_cast<std::int64_t>(value.via.u64);
        out.beyond_int64 =
            static_cast<std::uint16_t>((out.beyond_int64 & ~(1U << at)) | (static_cast<unsigned>(big) << at));
    }
    static void real(const Object& value, double& member) {
        switch (value.type) {
            case msgpack::type::FLOAT32:
            case msgpack::type::FLOAT64: member = value.via.f64; return;
            case msgpack::type::POSITIVE_INTEGER: member = static_cast<double>(value.via.u64); return;
            case msgpack::type::NEGATIVE_INTEGER: member = static_cast<double>(value.via.i64); return;
            default: throw Refused{FpmError::wrong_type};
        }
    }
    static std::string key(const Object& object) {
        if (object.type != msgpack::type::STR) throw Refused{FpmError::bad_key};
        if (!valid_utf8(text_of(object))) throw Refused{FpmError::bad_utf8};
        return std::string{text_of(object)};
    }

    // The members of both blocks by name; a queue has no sum_prefill_kv_tokens.
    void block(const Object& object, std::map<std::string, std::int64_t*> integers,
               std::map<std::string, double*> reals, unsigned first_bit) {
        if (object.type != msgpack::type::MAP) throw Refused{FpmError::wrong_type};
        const std::map<std::string, unsigned> order =
            first_bit == 3 ? std::map<std::string, unsigned>{{"num_prefill_requests", 3},
                                                             {"sum_prefill_tokens", 4},
                                                             {"sum_prefill_kv_tokens", 5},
                                                             {"num_decode_requests", 6},
                                                             {"sum_decode_kv_tokens", 7}}
                           : std::map<std::string, unsigned>{{"num_prefill_requests", 8},
                                                             {"sum_prefill_tokens", 9},
                                                             {"num_decode_requests", 10},
                                                             {"sum_decode_kv_tokens", 11}};
        for (const auto& [name, member] : integers) {
            *member = 0;
            out.beyond_int64 = static_cast<std::uint16_t>(out.beyond_int64 & ~(1U << order.at(name)));
        }
        for (const auto& [name, member] : reals) *member = 0.0;
        for (std::uint32_t i = 0; i < object.via.map.size; ++i) {
            const auto& pair = object.via.map.ptr[i];
            const std::string name = key(pair.key);
            if (integers.count(name) != 0) integer(pair.val, *integers[name], order.at(name));
            if (reals.count(name) != 0) real(pair.val, *reals[name]);
        }
    }

    void root(const Object& object) {
        if (object.type != msgpack::type::MAP) throw Refused{FpmError::bad_root};
        Fpm& fpm = out.fpm;
        ScheduledRequests& s = fpm.pass.scheduled;
        QueuedRequests& q = fpm.pass.queued;
        for (std::uint32_t i = 0; i < object.via.map.size; ++i) {
            const auto& pair = object.via.map.ptr[i];
            const std::string name = key(pair.key);
            if (name == "version") integer(pair.val, fpm.version, 0);
            if (name == "worker_id") {
                if (pair.val.type != msgpack::type::STR) throw Refused{FpmError::wrong_type};
                if (!valid_utf8(text_of(pair.val))) throw Refused{FpmError::bad_utf8};
                fpm.worker_id = text_of(pair.val);
            }
            if (name == "dp_rank") integer(pair.val, fpm.dp_rank, 1);
            if (name == "counter_id") integer(pair.val, fpm.pass.counter_id, 2);
            if (name == "wall_time") real(pair.val, fpm.pass.wall_time);
            if (name == "scheduled_requests") {
                block(pair.val,
                      {{"num_prefill_requests", &s.num_prefill_requests},
                       {"sum_prefill_tokens", &s.sum_prefill_tokens},
                       {"sum_prefill_kv_tokens", &s.sum_prefill_kv_tokens},
                       {"num_decode_requests", &s.num_decode_requests},
                       {"sum_decode_kv_tokens", &s.sum_decode_kv_tokens}},
                      {{"var_prefill_length", &s.var_prefill_length},
                       {"var_decode_kv_tokens", &s.var_decode_kv_tokens}},
                      3);
            }
            if (name == "queued_requests") {
                block(pair.val,
                      {{"num_prefill_requests", &q.num_prefill_requests},
                       {"sum_prefill_tokens", &q.sum_prefill_tokens},
                       {"num_decode_requests", &q.num_decode_requests},
                       {"sum_decode_kv_tokens", &q.sum_decode_kv_tokens}},
                      {{"var_prefill_length", &q.var_prefill_length},
                       {"var_decode_kv_tokens", &q.var_decode_kv_tokens}},
                      8);
            }
        }
    }
};

}  // namespace

TwinAnswer twin_decode(std::string_view bytes) {
    TwinAnswer answer;
    // Counts and lengths beyond the message cannot come true; msgpack-c must not allocate for them.
    const std::size_t most = bytes.size();
    const msgpack::unpack_limit limit{most, most, most, most, most, 1000};
    std::size_t used = 0;
    msgpack::object_handle handle;
    try {
        handle = msgpack::unpack(bytes.data(), bytes.size(), used, nullptr, nullptr, limit);
    } catch (const std::exception&) {
        return answer;
    }
    answer.well_formed = true;
    try {
        Walker walker{answer.message};
        walker.root(handle.get());
        if (used != bytes.size()) throw Refused{FpmError::trailing_bytes};
        if (answer.message.fpm.version != 1) throw Refused{FpmError::unsupported_version};
    } catch (const Refused& refused) {
        answer.error = refused.error;
    }
    return answer;
}

}  // namespace dynaplan::fuzz
