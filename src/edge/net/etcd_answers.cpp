// The half that is read: answers.
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <openssl/evp.h>
#include <nlohmann/json.hpp>

#include "net/etcd_json.hpp"

namespace dynaplan::net {

namespace {

using nlohmann::json;

// gRPC's codes that say that nothing was carried out; the others can also come after the work was done, or
// while it goes on (cancelled, deadline exceeded, unavailable, internal, unknown).
constexpr int code_invalid_argument = 3;
constexpr int code_not_found = 5;
constexpr int code_already_exists = 6;
constexpr int code_permission_denied = 7;
constexpr int code_resource_exhausted = 8;
constexpr int code_failed_precondition = 9;
constexpr int code_out_of_range = 11;
constexpr int code_unimplemented = 12;
constexpr int code_unauthenticated = 16;

// A member that is missing or null is zero; the first of a wrong kind is kept as the problem.

class Reading {
public:
    explicit Reading(std::string_view text) : root_(json::parse(text, nullptr, false)) {
        if (!root_.is_object()) fail("is no JSON object");
    }
    [[nodiscard]] const json& root() const { return root_; }
    [[nodiscard]] bool ok() const { return problem_.empty(); }
    [[nodiscard]] const std::string& problem() const { return problem_; }
    [[nodiscard]] tl::unexpected<Error> error() const { return failure("etcd's answer: " + problem_); }
    void fail(std::string problem) {
        if (problem_.empty()) problem_ = std::move(problem);
    }

    static const json* find(const json& object, const char* name) {
        if (!object.is_object()) return nullptr;
        const auto at = object.find(name);
        return at == object.end() || at->is_null() ? nullptr : &*at;
    }
    std::int64_t number(const json& object, const char* name) {
        const json* v = find(object, name);
        if (v == nullptr) return 0;
        if (v->is_number_integer()) return v->get<std::int64_t>();
        std::int64_t n = 0;
        if (v->is_string()) {
            const auto& text = v->get_ref<const std::string&>();
            const auto read = std::from_chars(text.data(), text.data() + text.size(), n);
            if (read.ec == std::errc{} && read.ptr == text.data() + text.size()) return n;
        }
        fail(std::string{name} + " is no integer");
        return 0;
    }
    bool flag(const json& object, const char* name) {
        const json* v = find(object, name);
        if (v == nullptr) return false;
        if (!v->is_boolean()) fail(std::string{name} + " is neither true nor false");
        return v->is_boolean() && v->get<bool>();
    }
    std::string text(const json& object, const char* name) {
        const json* v = find(object, name);
        if (v == nullptr) return {};
        if (v->is_string()) return v->get<std::string>();
        fail(std::string{name} + " is no text");
        return {};
    }
    std::string bytes(const json& object, const char* name) { return decoded(text(object, name), name); }
    std::string decoded(const std::string& encoded, const char* name) {
        const std::size_t padding = encoded.ends_with("==") ? 2 : encoded.ends_with('=') ? 1 : 0;
        std::string out(encoded.size() / 4 * 3, '\0');
        const int size = ::EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                           reinterpret_cast<const unsigned char*>(encoded.data()),
                                           static_cast<int>(encoded.size()));
        if (encoded.size() % 4 != 0 || size < 0 || static_cast<std::size_t>(size) != out.size()) {
            fail(std::string{name} + " is not base64");
            return {};
        }
        out.resize(out.size() - padding);
        return out;
    }
    // Calls `each` for every element of an array.
    template <class Each>
    void each(const json& object, const char* name, Each each) {
        const json* v = find(object, name);
        if (v == nullptr) return;
        if (!v->is_array()) return fail(std::string{name} + " is no array");
        for (const json& element : *v) each(element);
    }

    std::int64_t revision(const json& object) {
        const json* header = find(object, "header");
        return header == nullptr ? 0 : number(*header, "revision");
    }
    EtcdPair pair(const json& object) {
        return {bytes(object, "key"),           bytes(object, "value"),    number(object, "create_revision"),
                number(object, "mod_revision"), number(object, "version"), number(object, "lease")};
    }
    EtcdListing listing(const json& object) {
        EtcdListing out;
        out.revision = revision(object);
        each(object, "kvs", [&](const json& element) { out.pairs.push_back(pair(element)); });
        return out;
    }
    // The whole of an answer, or its problem.
    template <class T>
    Result<T> result(T value) const {
        if (!ok()) return error();
        return value;
    }

private:
    json root_;
    std::string problem_;
};

// Some answers are a stream of one message (keep-alive): its content is a member `result`.
const json& inner(const json& root) {
    const json* result = Reading::find(root, "result");
    return result == nullptr ? root : *result;
}

}  // namespace

Result<EtcdListing> read_etcd_listing(std::string_view text) {
    Reading r{text};
    return r.result(r.listing(r.root()));
}

Result<EtcdTransactionAnswer> read_etcd_transaction(std::string_view text) {
    Reading r{text};
    EtcdTransactionAnswer out;
    out.succeeded = r.flag(r.root(), "succeeded");
    out.revision = r.revision(r.root());
    r.each(r.root(), "responses", [&](const json& response) {
        if (const json* range = Reading::find(response, "response_range"))
            out.listings.push_back(r.listing(*range));
    });
    // A listing within a transaction may lack a revision of its own: it is the transaction's.
    for (EtcdListing& listing : out.listings) listing.revision = out.revision;
    if (out.revision <= 0) r.fail("has no revision");
    return r.result(std::move(out));
}

Result<EtcdGrant> read_etcd_grant(std::string_view text) {
    Reading r{text};
    const EtcdGrant out{r.number(r.root(), "ID"), std::chrono::seconds{r.number(r.root(), "TTL")}};
    if (out.lease == 0 || out.ttl.count() <= 0) r.fail("grants no lease");
    return r.result(out);
}

Result<std::optional<std::chrono::seconds>> read_etcd_keep_alive(std::string_view text) {
    Reading r{text};
    if (const json* error = Reading::find(r.root(), "error"); error != nullptr && error->is_object())
        r.fail(r.text(*error, "message"));
    const std::int64_t ttl = r.number(inner(r.root()), "TTL");
    return r.result(ttl > 0 ? std::optional{std::chrono::seconds{ttl}} : std::nullopt);
}

Result<EtcdLeaseTime> read_etcd_lease_time(std::string_view text) {
    Reading r{text};
    EtcdLeaseTime out;
    const std::int64_t left = r.number(r.root(), "TTL");
    out.granted = std::chrono::seconds{r.number(r.root(), "grantedTTL")};
    // A lease that is gone has -1; one with less than a second left lacks the member.
    if (left >= 0 && out.granted.count() > 0) out.left = std::chrono::seconds{left};
    r.each(r.root(), "keys", [&](const json& key) {
        if (!key.is_string()) return r.fail("a key is no text");
        out.keys.push_back(r.decoded(key.get<std::string>(), "a key"));
    });
    return r.result(std::move(out));
}

Result<std::string> read_etcd_token(std::string_view text) {
    Reading r{text};
    std::string token = r.text(r.root(), "token");
    if (token.empty()) r.fail("has no token");
    return r.result(std::move(token));
}

Result<EtcdWatchMessage> read_etcd_watch_line(std::string_view text) {
    Reading r{text};
    if (const json* error = Reading::find(r.root(), "error")) {
        const std::string message =
            error->is_object() ? r.text(*error, "message") : r.text(r.root(), "error");
        return failure("etcd ended the watch: " + (message.empty() ? "without a reason" : message));
    }
    const json& root = inner(r.root());
    EtcdWatchMessage out;
    out.revision = r.revision(root);
    out.created = r.flag(root, "created");
    out.canceled = r.flag(root, "canceled");
    out.compact_revision = r.number(root, "compact_revision");
    out.cancel_reason = r.text(root, "cancel_reason");
    r.each(root, "events", [&](const json& event) {
        const json* pair = Reading::find(event, "kv");
        if (pair == nullptr) return r.fail("an event has no key");
        out.events.push_back({r.text(event, "type") == "DELETE", r.pair(*pair)});
    });
    return r.result(std::move(out));
}

EtcdFailure etcd_refusal(unsigned status, std::string_view body) {
    Reading r{body};
    EtcdFailure out;
    const json* stream_error = Reading::find(r.root(), "error");  // of a stream: {"error": {...}}
    const json& error = stream_error != nullptr && stream_error->is_object() ? *stream_error : r.root();
    out.code = static_cast<int>(r.number(error, &error == &r.root() ? "code" : "grpc_code"));
    out.message = r.text(error, "message");
    if (out.message.empty()) out.message = "HTTP status " + std::to_string(status);
    constexpr std::array nothing_done{
        code_invalid_argument,  code_not_found,          code_already_exists,
        code_permission_denied, code_resource_exhausted, code_failed_precondition,
        code_out_of_range,      code_unimplemented,      code_unauthenticated};
    const bool said_no = std::find(nothing_done.begin(), nothing_done.end(), out.code) != nothing_done.end();
    out.fault = said_no || status / 100 == 4 ? EtcdFault::refused : EtcdFault::lost;
    // Cancelled, which the gateway answers with 408, and a time-out of a proxy may come after the work.
    if (status == 408 || status == 499) out.fault = EtcdFault::lost;
    return out;
}

bool etcd_wants_token(const EtcdFailure& failure) {
    return failure.code == code_unauthenticated ||
           failure.message.find("invalid auth token") != std::string::npos ||
           failure.message.find("revision of auth store is old") != std::string::npos ||
           failure.message.find("user name is empty") != std::string::npos;
}

}  // namespace dynaplan::net
