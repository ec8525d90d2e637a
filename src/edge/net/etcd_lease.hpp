// One lease of etcd, kept alive until it is given up or lost.
//
// It is renewed at a third of its time. It counts as lost by this process's own monotonic clock as soon as
// its time has passed since the last renewal that was answered was *sent*: etcd counts from later, so the
// lease is given up here before it can end there. It is lost at once when etcd says that it is gone.
//
// A lost lease is over; start() asks for another one.
//
// The loop's thread only; the client must outlive it. Callbacks come from the loop. When it is destroyed (a
// callback may do so) no callback comes any more; the lease then ends by itself.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/etcd_client.hpp"

namespace dynaplan::net {

struct EtcdLeaseCounts {
    std::uint64_t renewals = 0;
    std::uint64_t failures = 0;  // renewals without an answer; the next one is tried soon
};

class EtcdLease {
public:
    struct Callbacks {
        std::function<void(const EtcdGrant&)> on_granted;
        std::function<void(const std::string& why)> on_refused;  // there is no lease
        std::function<void(const std::string& why)> on_lost;     // after on_granted, once
    };

    EtcdLease(boost::asio::io_context& loop, EtcdClient& client, Callbacks callbacks);
    ~EtcdLease();
    EtcdLease(const EtcdLease&) = delete;
    EtcdLease& operator=(const EtcdLease&) = delete;

    // Asks for a lease; on_granted or on_refused follows. Ignored while there is one, or one is asked for.
    void start(std::chrono::seconds ttl);
    // The lease, while it is certain that etcd still holds it.
    [[nodiscard]] std::optional<std::int64_t> held() const;
    // Gives it up, without a callback of the lease. `done` comes when etcd has said so, or after `bound`;
    // then, or when it was never told, the lease ends by itself.
    void revoke(std::chrono::milliseconds bound, std::function<void()> done);
    // Gives it up without telling etcd.
    void forget();
    [[nodiscard]] const EtcdLeaseCounts& counts() const;

private:
    class Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace dynaplan::net
