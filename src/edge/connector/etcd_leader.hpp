// Which of several processes writes decisions: the one whose key stands in etcd.
//
// The key hangs on a lease of the process, is made when it is absent, and holds who leads. Who does not lead
// watches it, and tries at once when it goes: that is, when the leader releases it, or when its lease has
// ended, at the latest about half a second after its time.
//
// A leader takes itself for deposed when the lease is lost by its own clock, before another can have the key;
// when the key is seen to have gone or changed; and when the store has refused a write (deposed()). Even a
// write that was on its way meanwhile does no harm: each carries fence(), and the store refuses it.
//
// A key that is still there on a lease that this process has given up (etcd was away for longer, and lets it
// last for its whole time once more) is taken away by ending that lease.
//
// The loop's thread only; the client must outlive it. Callbacks come from the loop. When it is destroyed (a
// callback may do so) no callback comes any more, and the lease ends by itself; release() ends it at once.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/etcd_client.hpp"
#include "net/etcd_watch.hpp"

namespace dynaplan::connector {

struct EtcdLeaderOptions {
    std::string name_space = "dynamo";  // Dynamo's; taken as it is
    std::string identity;               // who we are: what others show
    std::chrono::seconds ttl{10};       // of the lease; what etcd grants is used
    net::EtcdWatchOptions watch{
        .span = {}};  // the span is the leader's own; its delays are those of attempts, too
};

struct EtcdLeaderCounts {
    std::uint64_t campaigns = 0;  // attempts to make the key
    std::uint64_t won = 0;
    std::uint64_t lost = 0;     // leadership that ended otherwise than by release()
    std::uint64_t cleared = 0;  // a key of our own that had outlived our leadership
};

class EtcdLeader {
public:
    struct Callbacks {
        // We lead, or no longer do, and why.
        std::function<void(bool leads, const std::string& why)> on_lead;
        // What went wrong on the way there; it is tried again.
        std::function<void(const std::string& what)> on_trouble;
    };

    // `random` gives a number in [0, 1), for the spread of delays.
    EtcdLeader(boost::asio::io_context& loop, net::EtcdClient& client, EtcdLeaderOptions options,
               std::function<double()> random, Callbacks callbacks);
    ~EtcdLeader();
    EtcdLeader(const EtcdLeader&) = delete;
    EtcdLeader& operator=(const EtcdLeader&) = delete;

    void start();
    // By our own clock, this very moment.
    [[nodiscard]] bool leads() const;
    // What every write compares; nothing while we do not lead.
    [[nodiscard]] std::optional<net::EtcdCompare> fence() const;
    // The store has refused a write of ours.
    void deposed();
    // Who leads, as last seen; empty: nobody.
    [[nodiscard]] std::string holder() const;
    // Gives leadership up and tries no more. `done` comes when the next one may lead, or after `bound`.
    void release(std::chrono::milliseconds bound, std::function<void()> done);
    [[nodiscard]] const EtcdLeaderCounts& counts() const;

private:
    class Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace dynaplan::connector
