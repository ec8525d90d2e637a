#include "wire/fpm_json.hpp"

#include <cmath>

#include "wire/dom_parser.hpp"
#include "wire/fpm_admit.hpp"
#include "wire/fpm_fields.hpp"
#include "wire/fpm_json_dom.hpp"
#include "wire/json_writer.hpp"

namespace dynaplan::wire {

namespace {

namespace dom = simdjson::dom;

class JsonFpm {
public:
    explicit JsonFpm(Fpm& out) : out_{out} {}

    FpmResult read(dom::element element) {
        out_.version = 1;
        out_.worker_id.clear();
        out_.dp_rank = 0;
        out_.pass = ForwardPass{};
        dom::object object;
        if (element.get(object) != simdjson::SUCCESS) return tl::unexpected{FpmError::bad_root};
        if (!root(object)) return tl::unexpected{FpmError::wrong_type};
        if (out_.version != 1 || (beyond_int64_ & (1U << version_bit)) != 0) {
            return tl::unexpected{FpmError::unsupported_version};
        }
        return admit_values(out_, beyond_int64_);
    }

private:
    // False: a known field holds another type.
    bool root(dom::object object) {
        std::size_t likely = 0;
        for (const dom::key_value_pair member : object) {
            const std::size_t field = find_field(fpm_fields, member.key, likely);
            if (field == fpm_fields.size()) continue;
            if (!known(static_cast<FpmField>(field), member.value)) return false;
            likely = field + 1;
        }
        return true;
    }

    bool known(FpmField field, dom::element value) {
        switch (field) {
            case FpmField::version: return integer(value, out_.version, version_bit);
            case FpmField::worker_id: {
                std::string_view text;
                if (value.get(text) != simdjson::SUCCESS) return false;
                out_.worker_id.assign(text);
                return true;
            }
            case FpmField::dp_rank: return integer(value, out_.dp_rank, dp_rank_bit);
            case FpmField::counter_id: return integer(value, out_.pass.counter_id, counter_id_bit);
            case FpmField::wall_time: return real(value, out_.pass.wall_time);
            case FpmField::scheduled_requests:
                return block(value, scheduled_fields, out_.pass.scheduled, scheduled_bits);
            case FpmField::queued_requests: return block(value, queued_fields, out_.pass.queued, queued_bits);
        }
        return false;
    }

    template <class Table, class Block>
    bool block(dom::element element, const Table& table, Block& values, std::uint16_t bits) {
        values = Block{};
        beyond_int64_ = static_cast<std::uint16_t>(beyond_int64_ & ~bits);
        dom::object object;
        if (element.get(object) != simdjson::SUCCESS) return false;
        std::size_t likely = 0;
        for (const dom::key_value_pair member : object) {
            const std::size_t at = find_field(table, member.key, likely);
            if (at == table.size()) continue;
            const auto& field = table[at];
            const bool taken = field.integer != nullptr
                                   ? integer(member.value, values.*field.integer, field.bit)
                                   : real(member.value, values.*field.real);
            if (!taken) return false;
            likely = at + 1;
        }
        return true;
    }

    bool integer(dom::element value, std::int64_t& member, unsigned bit) {
        const auto mask = static_cast<std::uint16_t>(1U << bit);
        beyond_int64_ = static_cast<std::uint16_t>(beyond_int64_ & ~mask);
        switch (value.type()) {
            case dom::element_type::INT64: return value.get(member) == simdjson::SUCCESS;
            case dom::element_type::UINT64: {  // simdjson's type for 2^63 and more
                std::uint64_t big = 0;
                if (value.get(big) != simdjson::SUCCESS) return false;
                member = static_cast<std::int64_t>(big);
                if (member < 0) beyond_int64_ = static_cast<std::uint16_t>(beyond_int64_ | mask);
                return true;
            }
            default: return false;  // a whole float is still a float
        }
    }

    static bool real(dom::element value, double& member) {
        switch (value.type()) {
            case dom::element_type::DOUBLE:
            case dom::element_type::INT64:
            case dom::element_type::UINT64: return value.get(member) == simdjson::SUCCESS;
            default: return false;
        }
    }

    Fpm& out_;
    std::uint16_t beyond_int64_ = 0;
};

// The members of one object, after its opening brace.
class MemberWriter {
public:
    explicit MemberWriter(std::string& out) : out_{out} {}
    void operator()(std::string_view name, std::int64_t value, unsigned /*bit*/ = 0) {
        key(name);
        append_json_number(out_, value);
    }
    void operator()(std::string_view name, double value) {
        key(name);
        append_json_float(out_, value);
    }
    void key(std::string_view name) {
        out_ += first_ ? "\"" : ",\"";
        first_ = false;
        out_ += name;
        out_ += "\":";
    }

private:
    std::string& out_;
    bool first_ = true;
};

template <class Table, class Block>
void append_block(std::string& out, const Table& table, const Block& values) {
    out += '{';
    visit_fields(table, values, MemberWriter{out});
    out += '}';
}

}  // namespace

FpmResult read_fpm_json(dom::element element, Fpm& out) { return JsonFpm{out}.read(element); }

void append_json_float(std::string& out, double value) {
    const std::size_t start = out.size();
    append_json_number(out, value);
    if (std::isfinite(value) && out.find_first_of(".e", start) == std::string::npos) out += ".0";
}

void append_fpm_json(std::string& out, const Fpm& fpm) {
    out += '{';
    MemberWriter write{out};
    write("version", fpm.version);
    write.key("worker_id");
    append_json_text(out, fpm.worker_id);
    write("dp_rank", fpm.dp_rank);
    write("counter_id", fpm.pass.counter_id);
    write("wall_time", fpm.pass.wall_time);
    write.key("scheduled_requests");
    append_block(out, scheduled_fields, fpm.pass.scheduled);
    write.key("queued_requests");
    append_block(out, queued_fields, fpm.pass.queued);
    out += '}';
}

struct FpmJsonReader::Parser {
    DomParser dom;
};

FpmJsonReader::FpmJsonReader() : parser_{std::make_unique<Parser>()} {}
FpmJsonReader::~FpmJsonReader() = default;
FpmJsonReader::FpmJsonReader(FpmJsonReader&&) noexcept = default;
FpmJsonReader& FpmJsonReader::operator=(FpmJsonReader&&) noexcept = default;

FpmResult FpmJsonReader::read(std::string_view text, Fpm& out) {
    dom::element root;
    if (parser_->dom.parse(text).get(root) != simdjson::SUCCESS) return tl::unexpected{FpmError::bad_json};
    return read_fpm_json(root, out);
}

}  // namespace dynaplan::wire
