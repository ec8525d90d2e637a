#include "discovery/channel_table.hpp"

#include <algorithm>

namespace dynaplan::discovery {

namespace {

// Longer than any host name (253 bytes) with a port.
constexpr std::size_t address_bytes_most = 512;

// ZeroMQ would take other schemes too (`inproc`, multicast), which nobody outside this process has a use for.
bool is_address(std::string_view url) {
    return url.size() <= address_bytes_most && (url.starts_with("tcp://") || url.starts_with("ipc://")) &&
           std::all_of(url.begin(), url.end(), [](char c) { return c > ' ' && c != '\x7f'; });
}

}  // namespace

std::string_view ChannelTable::put(std::string_view key, const wire::ChannelTransport& transport,
                                   std::optional<Role> role) {
    using Kind = wire::ChannelTransport::Kind;
    constexpr std::string_view used;
    if (direct_.size() + brokers_.size() + nats_.size() >= channels_most && !direct_.contains(key) &&
        !brokers_.contains(key) && !nats_.contains(key)) {
        return "too_many_channels";
    }
    if (transport.kind == Kind::zmq) {
        if (!is_address(transport.endpoint)) return "bad_address";
        leave_broker(key);
        leave_nats(key);
        port::Channel now{std::string{key}, transport.endpoint, role};
        const auto before = direct_.find(key);
        if (before != direct_.end() && before->second == now) return used;
        if (sink_ != nullptr) sink_->channel_added(now);
        direct_.insert_or_assign(std::string{key}, std::move(now));
        return used;
    }
    if (transport.kind == Kind::zmq_broker) {
        const auto& xpub = transport.xpub_endpoints;
        if (xpub.empty() || xpub.size() > broker_endpoints_most ||
            !std::all_of(xpub.begin(), xpub.end(), is_address)) {
            return "bad_address";
        }
        leave_direct(key);
        leave_nats(key);
        brokers_.insert_or_assign(std::string{key}, xpub);
        tell_brokers();
        return used;
    }
    leave_direct(key);
    leave_broker(key);
    nats_.emplace(key);
    return used;
}

void ChannelTable::erase(std::string_view key) {
    leave_direct(key);
    leave_broker(key);
    leave_nats(key);
}

void ChannelTable::leave_direct(std::string_view key) {
    const auto place = direct_.find(key);
    if (place == direct_.end()) return;
    direct_.erase(place);
    if (sink_ != nullptr) sink_->channel_removed(key);
}

void ChannelTable::leave_broker(std::string_view key) {
    const auto place = brokers_.find(key);
    if (place == brokers_.end()) return;
    brokers_.erase(place);
    tell_brokers();
}

void ChannelTable::leave_nats(std::string_view key) {
    if (const auto place = nats_.find(key); place != nats_.end()) nats_.erase(place);
}

void ChannelTable::tell_brokers() {
    std::set<std::string> all;
    for (const auto& [key, endpoints] : brokers_) {
        for (const std::string& endpoint : endpoints) {
            if (all.size() < broker_endpoints_most) all.insert(endpoint);
        }
    }
    std::vector<std::string> now{all.begin(), all.end()};
    if (now == told_brokers_) return;
    told_brokers_ = std::move(now);
    if (on_brokers_) on_brokers_(told_brokers_);
}

}  // namespace dynaplan::discovery
