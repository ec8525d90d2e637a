// A real etcd with a client of it, and a loop that is run until an answer is there.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "net/etcd_client.hpp"
#include "net/http_client.hpp"
#include "net/loopback.hpp"
#include "support/etcd_server.hpp"

namespace dynaplan::net::testing {

// The argument of the callback that `start` hands out, once it has been called.
template <class T>
T awaited(asio::io_context& loop, const std::function<void(std::function<void(T)>)>& start) {
    const auto answer = std::make_shared<std::optional<T>>();
    start([answer](T value) { answer->emplace(std::move(value)); });
    REQUIRE(run_until(loop, [&] { return answer->has_value(); }));
    return std::move(**answer);
}

inline EtcdClient client_of(asio::io_context& loop, const EtcdOptions& options) {
    auto client = EtcdClient::create(loop, options);
    REQUIRE_MESSAGE(client, client.error().message);
    return std::move(*client);
}

inline EtcdOptions options_for(std::vector<std::string> endpoints) {
    EtcdOptions options;
    options.endpoints = std::move(endpoints);
    return options;
}

inline EtcdResult<EtcdListing> list(asio::io_context& loop, EtcdClient& client, const EtcdSpan& span) {
    return awaited<EtcdResult<EtcdListing>>(loop, [&](auto done) { client.list(span, done); });
}

inline EtcdResult<EtcdTransactionAnswer> transact(asio::io_context& loop, EtcdClient& client,
                                                  const EtcdTransaction& transaction) {
    return awaited<EtcdResult<EtcdTransactionAnswer>>(loop,
                                                      [&](auto done) { client.transact(transaction, done); });
}

inline EtcdTransaction putting(std::string key, std::string value, std::int64_t lease = 0) {
    EtcdTransaction t;
    t.success.emplace_back(EtcdPut{std::move(key), std::move(value), lease});
    return t;
}

inline void put(asio::io_context& loop, EtcdClient& client, const std::string& key, const std::string& value,
                std::int64_t lease = 0) {
    const auto answer = transact(loop, client, putting(key, value, lease));
    REQUIRE_MESSAGE(answer, answer.error().message);
}

inline EtcdGrant grant(asio::io_context& loop, EtcdClient& client, std::chrono::seconds ttl) {
    const auto granted =
        awaited<EtcdResult<EtcdGrant>>(loop, [&](auto done) { client.grant_lease(ttl, done); });
    REQUIRE_MESSAGE(granted, granted.error().message);
    return *granted;
}

inline EtcdResult<void> revoke(asio::io_context& loop, EtcdClient& client, std::int64_t lease) {
    return awaited<EtcdResult<void>>(loop, [&](auto done) { client.revoke_lease(lease, done); });
}

// Anything else of the gateway: its answer's body.
inline std::string post(asio::io_context& loop, const std::string& url, const std::string& path,
                        const std::string& body) {
    auto http = HttpClient::create(loop, {.base_url = url});
    REQUIRE(http);
    const auto answer = awaited<Result<HttpResponse>>(
        loop, [&](auto done) { http->request({.method = "POST", .target = path, .body = body}, done); });
    REQUIRE_MESSAGE(answer, answer.error().message);
    return answer->body;
}

inline void compact(asio::io_context& loop, const std::string& url, std::int64_t revision) {
    const std::string answer =
        post(loop, url, "/v3/kv/compaction", R"({"revision":")" + std::to_string(revision) + "\"}");
    REQUIRE_MESSAGE(answer.find("error") == std::string::npos, answer);
}

}  // namespace dynaplan::net::testing
