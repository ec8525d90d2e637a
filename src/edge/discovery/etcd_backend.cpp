#include "discovery/etcd_backend.hpp"

#include <algorithm>
#include <utility>

namespace dynaplan::discovery {

EtcdBackend::EtcdBackend(boost::asio::io_context& io, net::EtcdClient& client, EtcdBackendOptions options,
                         Roster& roster)
    : options_{std::move(options)}, roster_{roster} {
    for (std::string& prefix : roster_.scope().watch_prefixes()) {
        Watched& entry = *watched_.emplace_back(std::make_unique<Watched>());
        entry.prefix = std::move(prefix);
        entry.trouble = client.endpoint() + ": etcd has not answered yet";
        net::EtcdWatchOptions watch_options;
        watch_options.span = net::etcd_prefix(entry.prefix);
        watch_options.backoff = options_.backoff;
        watch_options.relist_every = options_.relist_every;
        net::EtcdWatch::Callbacks callbacks;
        callbacks.on_listing = [this, &entry](const net::EtcdListing& listing) {
            take_listing(entry, listing);
        };
        callbacks.on_events = [this](std::int64_t, const std::vector<net::EtcdEvent>& events) {
            take_events(events);
        };
        callbacks.on_stale = [this, &entry](const std::string& why) {
            entry.trouble = why;
            tell_state();
        };
        entry.watch = std::make_unique<net::EtcdWatch>(io, client, std::move(watch_options), options_.random,
                                                       std::move(callbacks));
    }
    state_.reason = "discovery: " + watched_.front()->trouble;
    for (const auto& entry : watched_) entry->watch->start();
}

EtcdBackend::~EtcdBackend() {
    for (const auto& entry : watched_) entry->watch->stop();
}

void EtcdBackend::take_listing(Watched& entry, const net::EtcdListing& listing) {
    std::vector<KeyValue> pairs;
    pairs.reserve(listing.pairs.size());
    for (const net::EtcdPair& pair : listing.pairs) pairs.push_back({pair.key, pair.value});
    roster_.replace_all(entry.prefix, pairs);
    entry.listed = true;
    entry.trouble.clear();
    tell_state();
}

void EtcdBackend::take_events(const std::vector<net::EtcdEvent>& events) {
    for (const net::EtcdEvent& event : events) {
        if (event.deleted) {
            roster_.remove(event.pair.key);
        } else {
            roster_.put(event.pair.key, event.pair.value);
        }
    }
}

void EtcdBackend::tell_state() {
    SourceState now;
    now.complete = std::all_of(watched_.begin(), watched_.end(), [](const auto& w) { return w->listed; });
    const auto stale =
        std::find_if(watched_.begin(), watched_.end(), [](const auto& w) { return !w->trouble.empty(); });
    now.stale = stale != watched_.end();
    if (now.stale) now.reason = "discovery: " + (*stale)->trouble;
    if (now == state_) return;
    state_ = now;
    if (options_.on_state) options_.on_state(now);
}

net::EtcdWatchCounts EtcdBackend::counts() const {
    net::EtcdWatchCounts sum;
    for (const auto& entry : watched_) {
        const net::EtcdWatchCounts& c = entry->watch->counts();
        sum.listings += c.listings;
        sum.breaks += c.breaks;
        sum.compactions += c.compactions;
        sum.events += c.events;
    }
    return sum;
}

}  // namespace dynaplan::discovery
