// The raw engine hop: SUB sockets on the PUB sockets of engines' schedulers, three frames a message (event
// plane specification 2). No Dynamo process is needed for it.
//
// When the bus counts as connected, and when as an outage: bus/link_table.hpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "bus/fpm_intake.hpp"
#include "bus/link_table.hpp"
#include "bus/zmq_subscriber.hpp"
#include "core/result.hpp"
#include "port/bus_counts.hpp"
#include "port/event_sink.hpp"
#include "port/workers.hpp"

namespace dynaplan::bus {

struct HopEndpoint {
    std::string url;
    std::optional<Role> role;
};

class EngineHop {
public:
    // All problems of the addresses at once. `directory`: see FpmIntake; without one every endpoint must know
    // its role.
    static Result<std::unique_ptr<EngineHop>> open(boost::asio::io_context&, zmq::context_t&,
                                                   const std::vector<HopEndpoint>&, port::EventSink&,
                                                   port::BusCounts&,
                                                   const port::WorkerDirectory* directory = nullptr);

private:
    EngineHop(port::EventSink& sink, port::BusCounts& counts, const port::WorkerDirectory* directory)
        : counts_{counts}, intake_{sink, counts, directory}, links_{sink, counts} {}
    void take(std::optional<Role>, std::span<const std::string_view> frames);

    port::BusCounts& counts_;
    FpmIntake intake_;
    LinkTable links_;
    std::vector<std::unique_ptr<ZmqSubscriber>> sockets_;
};

}  // namespace dynaplan::bus
