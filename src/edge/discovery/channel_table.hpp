// The event channels that are there: publishers to connect to, brokers, and how many announce a transport
// that needs no address (event-plane specification 5.3, 5.4, 7.3). Hands addresses on to a bus; telling the
// same again changes nothing. The loop's thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "port/channels.hpp"
#include "wire/discovery_record.hpp"

namespace dynaplan::discovery {

class ChannelTable {
public:
    // The addresses of all brokers together, whenever they change; an empty list when none is left. With more
    // than one an event may arrive twice.
    using OnBrokers = std::function<void(const std::vector<std::string>& xpub_endpoints)>;

    // Each channel is a socket, each broker's address too.
    static constexpr std::size_t channels_most = 16'384;
    static constexpr std::size_t broker_endpoints_most = 256;

    // No sink: channels are only counted, as on NATS.
    ChannelTable(port::ChannelSink* sink, OnBrokers on_brokers)
        : sink_{sink}, on_brokers_{std::move(on_brokers)} {}

    // The record under this key is there. The cause where it is not used, and then an older record of the key
    // stays: `bad_address`, `too_many_channels`; else empty.
    std::string_view put(std::string_view key, const wire::ChannelTransport&, std::optional<Role>);
    // Unknown keys change nothing.
    void erase(std::string_view key);

    // Does anybody connect to channels?
    [[nodiscard]] bool wanted() const { return sink_ != nullptr; }
    [[nodiscard]] std::size_t direct() const { return direct_.size(); }
    [[nodiscard]] std::size_t brokers() const { return brokers_.size(); }
    [[nodiscard]] std::size_t nats() const { return nats_.size(); }

private:
    void leave_direct(std::string_view key);
    void leave_broker(std::string_view key);
    void leave_nats(std::string_view key);
    void tell_brokers();

    port::ChannelSink* sink_;
    OnBrokers on_brokers_;
    std::map<std::string, port::Channel, std::less<>> direct_;
    std::map<std::string, std::vector<std::string>, std::less<>> brokers_;  // xpub endpoints
    std::vector<std::string> told_brokers_;
    std::set<std::string, std::less<>> nats_;
};

}  // namespace dynaplan::discovery
