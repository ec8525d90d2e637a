// A publisher on the event plane over ZeroMQ: four frames, the envelope's sequence from 0 (event plane
// specification 3 and 5.1). For `publish`, tests and the demo. One thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bus/zmq_outlet.hpp"
#include "core/result.hpp"
#include "wire/envelope.hpp"

namespace dynaplan::bus {

struct EventPublisherOptions {
    std::uint64_t publisher_id = 0;  // unique among publishers; an August one is below 2^53
    std::string topic{wire::fpm_topic};
    std::string routing_key{};  // frame 0; empty: the bare topic (wire::zmq_routing_key has the other form)
    bool drops = true;          // see OutletOptions
};

class EventPublisher {
public:
    // Direct: binds, for readers that find the address by discovery. Port `*` is any free one.
    static Result<std::unique_ptr<EventPublisher>> bind(zmq::context_t&, const std::string& url,
                                                        EventPublisherOptions);
    // To every xsub endpoint of the brokers.
    static Result<std::unique_ptr<EventPublisher>> connect(zmq::context_t&,
                                                           const std::vector<std::string>& xsub_urls,
                                                           EventPublisherOptions);

    [[nodiscard]] const std::string& endpoint() const { return outlet_.endpoint(); }
    // `published_at_ms`: since the Unix epoch. False: nothing was sent, ask again.
    bool send(std::string_view payload, std::uint64_t published_at_ms);
    [[nodiscard]] int subscribers() { return outlet_.subscribers(); }

private:
    EventPublisher(ZmqOutlet outlet, EventPublisherOptions options)
        : outlet_{std::move(outlet)}, options_{std::move(options)} {
        if (options_.routing_key.empty()) options_.routing_key = options_.topic;
    }
    static Result<std::unique_ptr<EventPublisher>> make(Result<ZmqOutlet>, EventPublisherOptions);

    ZmqOutlet outlet_;
    EventPublisherOptions options_;
    std::uint64_t sequence_ = 0;
    std::array<std::string, 4> frames_;
};

}  // namespace dynaplan::bus
