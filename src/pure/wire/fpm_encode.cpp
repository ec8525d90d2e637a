#include "wire/fpm_encode.hpp"

#include <msgpack.hpp>
#include <string_view>

#include "wire/fpm_fields.hpp"

namespace dynaplan::wire {

namespace {

struct StringSink {
    std::string& out;
    void write(const char* bytes, std::size_t size) { out.append(bytes, size); }
};

class Encoder {
public:
    explicit Encoder(std::string& out) : sink_{out}, packer_{sink_} {}

    void operator()(std::string_view name, std::int64_t value, unsigned /*bit*/ = 0) {
        text(name);
        packer_.pack_int64(value);
    }
    void operator()(std::string_view name, double value) {
        text(name);
        packer_.pack_double(value);
    }
    void operator()(std::string_view name, std::string_view value) {
        text(name);
        text(value);
    }
    void map(std::size_t size) { packer_.pack_map(static_cast<std::uint32_t>(size)); }
    template <class Table, class Block>
    void block(std::string_view name, const Table& table, const Block& values) {
        text(name);
        map(table.size());
        visit_fields(table, values, *this);
    }

private:
    void text(std::string_view value) {
        packer_.pack_str(static_cast<std::uint32_t>(value.size()));
        packer_.pack_str_body(value.data(), static_cast<std::uint32_t>(value.size()));
    }

    StringSink sink_;
    msgpack::packer<StringSink> packer_;
};

}  // namespace

void encode_fpm(const Fpm& fpm, std::string& out) {
    Encoder encode{out};
    encode.map(fpm_fields.size());
    encode("version", fpm.version);
    encode("worker_id", std::string_view{fpm.worker_id});
    encode("dp_rank", fpm.dp_rank);
    encode("counter_id", fpm.pass.counter_id);
    encode("wall_time", fpm.pass.wall_time);
    encode.block("scheduled_requests", scheduled_fields, fpm.pass.scheduled);
    encode.block("queued_requests", queued_fields, fpm.pass.queued);
}

}  // namespace dynaplan::wire
