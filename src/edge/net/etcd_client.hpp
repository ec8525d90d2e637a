// A client of etcd's v3 JSON gateway on the caller's loop. It knows no keys; it asks, tells the answer, and
// says of a failure whether something may have been carried out.
//
// Several endpoints are members of one cluster. One is used until it fails; then the next one is. A question
// (a listing, a keep-alive, a revoke) is asked of each endpoint once before it fails. What changes the store
// is sent once: after a failure of anything, the next change is preceded by a cheap question that finds an
// endpoint that answers, so that a store that is away gives `unreachable`, and not `lost`.
//
// With a user name, a token is asked for before the first request, and again when the server no longer knows
// it; the request is then repeated once, since nothing had been carried out.
//
// The loop's thread only. Each call is answered once, from the loop, never from within the call. After the
// client is destroyed no callback comes; one who goes earlier guards its callbacks itself.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/result.hpp"
#include "net/etcd_message.hpp"
#include "net/etcd_options.hpp"

namespace dynaplan::net {

struct EtcdCounts {
    std::uint64_t requests = 0;    // sent, repeats and token requests included
    std::uint64_t refused = 0;     // answered with an error of etcd
    std::uint64_t lost = 0;        // without an answer that could be used
    std::uint64_t fail_overs = 0;  // to another endpoint
    std::uint64_t tokens = 0;      // asked for
};

class EtcdClient {
public:
    using WatchId = std::uint64_t;
    template <class T>
    using Done = std::function<void(EtcdResult<T>)>;

    struct WatchCallbacks {
        std::function<void(const EtcdWatchMessage&)> on_message;
        std::function<void(std::string why)> on_end;  // once, at the end
    };

    // Fails for endpoints or certificates that cannot be used. Nothing is connected yet.
    static Result<EtcdClient> create(boost::asio::io_context& loop, const EtcdOptions& options);
    EtcdClient(EtcdClient&&) noexcept;
    EtcdClient& operator=(EtcdClient&&) noexcept;
    ~EtcdClient();

    // A linearizable read. More than options.response_max is a failure.
    void list(const EtcdSpan& span, Done<EtcdListing> done);
    void transact(const EtcdTransaction& transaction, Done<EtcdTransactionAnswer> done);

    // `timeout` is for each endpoint; nothing: the options'.
    using Timeout = std::optional<std::chrono::milliseconds>;
    void grant_lease(std::chrono::seconds ttl, Done<EtcdGrant> done, Timeout timeout = {});
    // How long the lease now lasts; nothing when it is gone.
    void keep_alive(std::int64_t lease, Done<std::optional<std::chrono::seconds>> done, Timeout timeout = {});
    // A lease that is gone is a success: what was asked for is so.
    void revoke_lease(std::int64_t lease, Done<void> done, Timeout timeout = {});
    void lease_time(std::int64_t lease, Done<EtcdLeaseTime> done);

    // All events from this revision on. `on_end` also comes when the endpoint cannot be reached, or does not
    // let us in; net/etcd_watch.hpp is what repairs that.
    WatchId watch(const EtcdSpan& span, std::int64_t from_revision, WatchCallbacks callbacks);
    // Without a callback. An id that is over is ignored.
    void cancel(WatchId id);

    [[nodiscard]] const EtcdOptions& options() const;
    [[nodiscard]] const EtcdCounts& counts() const;
    [[nodiscard]] const std::string& endpoint() const;  // the one in use

private:
    class Impl;
    explicit EtcdClient(std::shared_ptr<Impl> impl);

    std::shared_ptr<Impl> impl_;
};

}  // namespace dynaplan::net
