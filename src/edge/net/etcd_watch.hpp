// What is under a prefix of etcd, and what becomes of it: the whole listing first, then every change.
//
// On any break (the stream ends, etcd cancels, the revision was compacted) the keys are listed again and the
// whole listing is handed over; a watch is never resumed, because a resumed one can go deaf without an error
// (a compacted revision leaves the stream open and silent; a store that was wiped starts below the old
// revision). For the same reason, and because a peer that vanishes leaves an open connection, an unbroken
// watch is listed anew every `relist_every`.
//
// Between a break and the next listing it is stale: what was handed over last may be old.
//
// The loop's thread only; the client must outlive it. Callbacks come from the loop. After stop(), or when it
// is destroyed (a callback may do either), no callback comes any more.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/etcd_client.hpp"
#include "net/retry.hpp"

namespace dynaplan::net {

struct EtcdWatchOptions {
    EtcdSpan span;
    // The delays between attempts. They begin as the existing clients' do, which go on to 5 s; but decisions
    // are to go on within 2 s of etcd's return, so that it is asked once a second at least.
    BackoffOptions backoff{.first = std::chrono::milliseconds{250}, .max = std::chrono::milliseconds{1'000}};
    std::chrono::milliseconds relist_every{300'000};
};

struct EtcdWatchCounts {
    std::uint64_t listings = 0;
    std::uint64_t breaks = 0;       // each followed by another listing
    std::uint64_t compactions = 0;  // among them
    std::uint64_t events = 0;
};

class EtcdWatch {
public:
    struct Callbacks {
        // All there is; what was known before and is not in it is gone. Comes when the watch stands, so that
        // nothing after it is missed.
        std::function<void(const EtcdListing&)> on_listing;
        // Changes in their order; those of one revision come in one call. `revision` is the last one's.
        std::function<void(std::int64_t revision, const std::vector<EtcdEvent>&)> on_events;
        // Once a break, and for each attempt to repair it that fails.
        std::function<void(const std::string& why)> on_stale;
    };

    // `random` gives a number in [0, 1), for the spread of the delays.
    EtcdWatch(boost::asio::io_context& loop, EtcdClient& client, EtcdWatchOptions options,
              std::function<double()> random, Callbacks callbacks);
    ~EtcdWatch();
    EtcdWatch(const EtcdWatch&) = delete;
    EtcdWatch& operator=(const EtcdWatch&) = delete;

    void start();
    void stop();
    // Not yet listed, or broken since.
    [[nodiscard]] bool stale() const;
    [[nodiscard]] const EtcdWatchCounts& counts() const;

private:
    class Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace dynaplan::net
