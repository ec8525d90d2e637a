// The half that is written: requests.
#include <utility>

#include <openssl/evp.h>

#include "net/etcd_json.hpp"
#include "wire/json_writer.hpp"

namespace dynaplan::net {

EtcdSpan etcd_prefix(std::string_view prefix) {
    // The first key behind all that begin so: the last byte that can be counted up is, and those after it go.
    std::string end{prefix};
    while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xffU) end.pop_back();
    const std::string zero(1, '\0');  // as a key: the first there can be; as a range_end: without an end
    if (end.empty()) return {prefix.empty() ? zero : std::string{prefix}, zero};
    end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1U);
    return {std::string{prefix}, std::move(end)};
}

namespace {

using wire::JsonWriter;

std::string base64_of(std::string_view bytes) {
    std::string out(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // with the terminator that is written behind it
    const int size = ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                       reinterpret_cast<const unsigned char*>(bytes.data()),
                                       static_cast<int>(bytes.size()));
    out.resize(static_cast<std::size_t>(size));
    return out;
}

void bytes_member(JsonWriter& w, std::string_view name, std::string_view bytes) {
    w.member(name, std::string_view{base64_of(bytes)});
}
void number_member(JsonWriter& w, std::string_view name, std::int64_t number) {
    w.member(name, std::string_view{std::to_string(number)});
}
void write_span(JsonWriter& w, const EtcdSpan& span) {
    bytes_member(w, "key", span.key);
    if (!span.range_end.empty()) bytes_member(w, "range_end", span.range_end);
}

struct OperationWriter {
    JsonWriter& w;

    void operator()(const EtcdPut& put) const {
        w.key("request_put").begin_object();
        bytes_member(w, "key", put.key);
        bytes_member(w, "value", put.value);
        if (put.lease != 0) number_member(w, "lease", put.lease);
        w.end_object();
    }
    void operator()(const EtcdDelete& erase) const {
        w.key("request_delete_range").begin_object();
        write_span(w, erase.span);
        w.end_object();
    }
    void operator()(const EtcdRead& read) const {
        w.key("request_range").begin_object();
        write_span(w, read.span);
        w.end_object();
    }
};

void write_branch(JsonWriter& w, std::string_view name, const std::vector<EtcdOperation>& operations) {
    if (operations.empty()) return;
    w.key(name).begin_array();
    for (const EtcdOperation& operation : operations) {
        w.begin_object();
        std::visit(OperationWriter{w}, operation);
        w.end_object();
    }
    w.end_array();
}

struct FieldNames {
    std::string_view target;
    std::string_view member;
};
FieldNames names_of(EtcdField field) {
    switch (field) {
        case EtcdField::version: return {"VERSION", "version"};
        case EtcdField::create_revision: return {"CREATE", "create_revision"};
        case EtcdField::mod_revision: return {"MOD", "mod_revision"};
        case EtcdField::lease: return {"LEASE", "lease"};
        case EtcdField::value: break;
    }
    return {"VALUE", "value"};
}
std::string_view name_of(EtcdRelation relation) {
    switch (relation) {
        case EtcdRelation::equal: return "EQUAL";
        case EtcdRelation::not_equal: return "NOT_EQUAL";
        case EtcdRelation::greater: return "GREATER";
        case EtcdRelation::less: break;
    }
    return "LESS";
}

}  // namespace

std::string etcd_range_request(const EtcdSpan& span) {
    std::string out;
    JsonWriter w{out};
    w.begin_object();
    write_span(w, span);
    w.end_object();
    return out;
}

std::string etcd_probe_request() {
    std::string out;
    JsonWriter w{out};
    w.begin_object();
    bytes_member(w, "key", std::string_view{"\0", 1});
    w.member("count_only", true).end_object();
    return out;
}

std::string etcd_transaction_request(const EtcdTransaction& transaction) {
    std::string out;
    JsonWriter w{out};
    w.begin_object();
    if (!transaction.compare.empty()) w.key("compare").begin_array();
    for (const EtcdCompare& compare : transaction.compare) {
        const FieldNames names = names_of(compare.field);
        w.begin_object();
        bytes_member(w, "key", compare.key);
        w.member("target", names.target).member("result", name_of(compare.relation));
        if (compare.field == EtcdField::value) {
            bytes_member(w, names.member, compare.text);
        } else {
            number_member(w, names.member, compare.number);
        }
        w.end_object();
    }
    if (!transaction.compare.empty()) w.end_array();
    write_branch(w, "success", transaction.success);
    write_branch(w, "failure", transaction.failure);
    w.end_object();
    return out;
}

std::string etcd_grant_request(std::chrono::seconds ttl) {
    std::string out;
    JsonWriter w{out};
    w.begin_object();
    number_member(w, "TTL", ttl.count());
    w.end_object();
    return out;
}

std::string etcd_lease_request(std::int64_t lease) {
    std::string out;
    JsonWriter w{out};
    w.begin_object();
    number_member(w, "ID", lease);
    w.end_object();
    return out;
}

std::string etcd_lease_time_request(std::int64_t lease) {
    std::string out;
    JsonWriter w{out};
    w.begin_object();
    number_member(w, "ID", lease);
    w.member("keys", true).end_object();
    return out;
}

std::string etcd_watch_request(const EtcdSpan& span, std::int64_t from_revision) {
    std::string out;
    JsonWriter w{out};
    w.begin_object().key("create_request").begin_object();
    write_span(w, span);
    number_member(w, "start_revision", from_revision);
    w.end_object().end_object();
    return out;
}

std::string etcd_authenticate_request(std::string_view name, std::string_view password) {
    std::string out;
    JsonWriter{out}.begin_object().member("name", name).member("password", password).end_object();
    return out;
}

}  // namespace dynaplan::net
