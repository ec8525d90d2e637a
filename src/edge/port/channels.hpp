// Addresses at which somebody publishes, as a discovery backend finds them: the way from a discovery adapter
// to a bus that connects to each publisher (event plane specification 5.3). The loop's thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/role.hpp"

namespace dynaplan::port {

struct Channel {
    std::string key;           // of the record, unique; connections are kept by it
    std::string url;           // "tcp://10.0.0.7:41234"
    std::optional<Role> role;  // where the record's component tells it
    bool operator==(const Channel&) const = default;
};

class ChannelSink {
public:
    ChannelSink() = default;
    virtual ~ChannelSink() = default;
    ChannelSink(const ChannelSink&) = delete;
    ChannelSink& operator=(const ChannelSink&) = delete;

    // May come again for the same key: nothing changes then, unless the address does.
    virtual void channel_added(const Channel&) = 0;
    virtual void channel_removed(std::string_view key) = 0;
};

}  // namespace dynaplan::port
