// The event plane over ZeroMQ behind brokers: a SUB socket on every xpub endpoint (event plane specification
// 5.4), subscribed to the routing keys of both eras: August's full subject of each wanted endpoint, which
// tells the role, and April's bare topic, which mixes all components of all namespaces and tells nothing:
// then only a directory of workers can say whose report it is.
//
// With more than one endpoint the same message may come over each of them; the last 100,000 are known again,
// and repeats are dropped and counted as `repeated`.
//
// Connected while one endpoint is; losing all of them is an outage (bus/link_table.hpp). The loop's thread.
// Messages are handled at once, so that no backlog needs a bound here.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "bus/event_intake.hpp"
#include "bus/link_table.hpp"
#include "bus/recent_messages.hpp"
#include "bus/wanted_endpoint.hpp"
#include "bus/zmq_subscriber.hpp"
#include "core/result.hpp"
#include "port/workers.hpp"

namespace dynaplan::bus {

struct BrokerOptions {
    std::vector<std::string> xpub_urls;
    std::vector<WantedEndpoint> endpoints;
    bool drop_repeats = true;  // of no effect with one url
    std::string topic{wire::fpm_topic};
};

class BrokerPlane {
public:
    // All problems of the addresses at once.
    static Result<std::unique_ptr<BrokerPlane>> open(boost::asio::io_context&, zmq::context_t&,
                                                     const BrokerOptions&, port::EventSink&, port::BusCounts&,
                                                     const port::WorkerDirectory* directory = nullptr);

private:
    BrokerPlane(const BrokerOptions&, port::EventSink&, port::BusCounts&, const port::WorkerDirectory*);
    void take(std::span<const std::string_view> frames);

    EventIntake intake_;
    LinkTable links_;
    std::map<std::string, std::optional<Role>, std::less<>> role_by_key_;
    std::optional<RecentMessages> recent_;
    std::vector<std::unique_ptr<ZmqSubscriber>> sockets_;
};

}  // namespace dynaplan::bus
