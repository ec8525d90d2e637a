// The event plane over ZeroMQ without a broker: one SUB socket on each publisher (event plane specification
// 5.3). Publishers are listed in the configuration, or found by discovery, which hands them in as channels.
//
// A channel keeps its connection by its record's key; one whose address changes is connected anew. An address
// that cannot be used is counted as an error and named, and the others go on. Publishers join slowly: what is
// sent before the subscription has arrived is lost, without notice.
//
// When this counts as connected, and when as an outage: bus/link_table.hpp. With discovery and no channel it
// is not connected (`readyz` says so), which is no outage.
//
// The loop's thread. Messages are handled at once, so that no backlog needs a bound here; ZeroMQ's own queue
// holds 100,000 for each publisher, and what is lost beyond that shows as gaps of `counter_id`.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "bus/event_intake.hpp"
#include "bus/link_table.hpp"
#include "bus/zmq_subscriber.hpp"
#include "core/result.hpp"
#include "port/channels.hpp"
#include "port/workers.hpp"
#include "wire/envelope.hpp"

namespace dynaplan::bus {

// Messages that may wait in a socket (event plane specification 5.5).
inline constexpr int event_high_water = 100'000;

struct EventEndpoint {
    std::string url;
    std::optional<Role> role;
};

class EventPlane final : public port::ChannelSink {
public:
    // `endpoints`: those of the configuration; all problems of their addresses at once. `directory`: see
    // FpmIntake; without one every channel must know its role.
    static Result<std::unique_ptr<EventPlane>> open(boost::asio::io_context&, zmq::context_t&,
                                                    const std::vector<EventEndpoint>& endpoints,
                                                    port::EventSink&, port::BusCounts&,
                                                    const port::WorkerDirectory* directory = nullptr,
                                                    std::string topic = std::string{wire::fpm_topic});

    void channel_added(const port::Channel&) override;
    void channel_removed(std::string_view key) override;

private:
    struct Connection {
        port::Channel channel;
        std::unique_ptr<ZmqSubscriber> socket;  // none: the address cannot be used
    };

    EventPlane(boost::asio::io_context& io, zmq::context_t& context, port::EventSink& sink,
               port::BusCounts& counts, const port::WorkerDirectory* directory, std::string topic)
        : io_{io},
          context_{context},
          counts_{counts},
          topic_{topic},
          intake_{sink, counts, directory, std::move(topic)},
          links_{sink, counts} {}
    std::string connect(Connection&);

    boost::asio::io_context& io_;
    zmq::context_t& context_;
    port::BusCounts& counts_;
    std::string topic_;
    EventIntake intake_;
    LinkTable links_;
    std::map<std::string, Connection, std::less<>> connections_;
};

}  // namespace dynaplan::bus
