// Workers out of etcd: keeps a roster up to date with what is registered in its namespace.
//
// Each prefix is listed, then watched; after any break it is listed again and the roster reconciled with the
// whole listing (net/etcd_watch.hpp says why a watch is never resumed). Until then it is stale, says why, and
// the last known workers stay: that a store is away says nothing about engines. A worker whose process dies
// goes when its lease ends.
//
// It only reads, and needs no lease. The loop's thread; client and roster must outlive it. It must not be
// destroyed by what its roster calls.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "discovery/roster.hpp"
#include "discovery/source_state.hpp"
#include "net/etcd_client.hpp"
#include "net/etcd_watch.hpp"
#include "net/retry.hpp"

namespace dynaplan::discovery {

struct EtcdBackendOptions {
    net::BackoffOptions backoff = net::EtcdWatchOptions{}.backoff;
    std::chrono::milliseconds relist_every = net::EtcdWatchOptions{}.relist_every;
    std::function<double()> random;  // a number in [0, 1), for the spread of the delays
    OnSourceState on_state;
};

class EtcdBackend {
public:
    // Begins at once; a store that is not there yet is waited for.
    EtcdBackend(boost::asio::io_context&, net::EtcdClient&, EtcdBackendOptions, Roster&);
    ~EtcdBackend();
    EtcdBackend(const EtcdBackend&) = delete;
    EtcdBackend& operator=(const EtcdBackend&) = delete;

    [[nodiscard]] const SourceState& state() const { return state_; }
    // Of all prefixes together.
    [[nodiscard]] net::EtcdWatchCounts counts() const;

private:
    struct Watched {
        std::string prefix;
        bool listed = false;  // at least once
        std::string trouble;  // while it is stale
        std::unique_ptr<net::EtcdWatch> watch;
    };

    void take_listing(Watched&, const net::EtcdListing&);
    void take_events(const std::vector<net::EtcdEvent>&);
    void tell_state();

    EtcdBackendOptions options_;
    Roster& roster_;
    std::vector<std::unique_ptr<Watched>> watched_;
    SourceState state_;
};

}  // namespace dynaplan::discovery
