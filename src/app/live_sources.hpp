// Where a running planner hears of its fleet: the bus over which engines report, and the discovery of who is
// there. Opened from the configuration; used by `serve` and `record`.
//
// The loop's thread. Closed by the destructor: nothing is delivered afterwards.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "app/config_app.hpp"
#include "core/result.hpp"
#include "port/bus_counts.hpp"
#include "port/event_sink.hpp"
#include "runtime/state_json.hpp"

namespace dynaplan::app {

class LiveSources {
public:
    // Fails with what is wrong in an address; a peer that is not there is no failure, the bus goes on trying.
    static Result<std::unique_ptr<LiveSources>> open(boost::asio::io_context&, const AppConfig&,
                                                     port::EventSink&, port::BusCounts&);
    virtual ~LiveSources() = default;
    LiveSources(const LiveSources&) = delete;
    LiveSources& operator=(const LiveSources&) = delete;

    // "zmq engine": transport and plane, for people.
    [[nodiscard]] virtual std::string bus() const = 0;
    [[nodiscard]] virtual runtime::DiscoveryView discovery() const = 0;

protected:
    LiveSources() = default;
};

}  // namespace dynaplan::app
