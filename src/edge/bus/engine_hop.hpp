// The raw engine hop: SUB sockets on the PUB sockets of engines' schedulers, three frames a message (event
// plane specification 2). No Dynamo process is needed for it.
//
// The bus counts as connected while at least one engine's socket is: a single engine that is gone is a matter
// of `reconcile`, not an outage.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "bus/fpm_intake.hpp"
#include "bus/zmq_subscriber.hpp"
#include "core/result.hpp"
#include "port/bus_counts.hpp"
#include "port/event_sink.hpp"

namespace dynaplan::bus {

struct HopEndpoint {
    std::string url;
    Role role{};
};

class EngineHop {
public:
    // All problems of the addresses at once.
    static Result<std::unique_ptr<EngineHop>> open(boost::asio::io_context&, zmq::context_t&,
                                                   const std::vector<HopEndpoint>&, port::EventSink&,
                                                   port::BusCounts&);

private:
    EngineHop(port::EventSink& sink, port::BusCounts& counts)
        : sink_{sink}, counts_{counts}, intake_{sink, counts} {}
    void take(Role, std::span<const std::string_view> frames);
    void link(std::size_t endpoint, bool connected);

    port::EventSink& sink_;
    port::BusCounts& counts_;
    FpmIntake intake_;
    std::vector<std::unique_ptr<ZmqSubscriber>> sockets_;
    std::vector<bool> connected_;
    bool any_ = false;
};

}  // namespace dynaplan::bus
