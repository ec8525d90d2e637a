// Onto which bus `dynaplan publish` puts reports: the raw engine hop or the event plane over ZeroMQ, direct
// or through brokers, or NATS. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "bus/nats_options.hpp"
#include "core/result.hpp"
#include "wire/era.hpp"

namespace dynaplan::app {

struct OutletRequest {
    std::string bus = "zmq";       // or nats
    std::string plane = "engine";  // of zmq: engine or event
    std::string bind = "tcp://127.0.0.1:20380";
    std::string broker;  // event plane: xsub=URL[;URL...],xpub=URL[;URL...]; empty: direct
    bus::NatsOptions nats;
    // Of the event plane's subjects and routing keys.
    std::string name_space = "dynamo";
    std::string endpoint = "generate";
    wire::Era era = wire::Era::august;
};

class Outlet {
public:
    Outlet() = default;
    virtual ~Outlet() = default;
    Outlet(const Outlet&) = delete;
    Outlet& operator=(const Outlet&) = delete;

    // Where readers find it, for people and scripts.
    [[nodiscard]] virtual std::string where() const = 0;
    // How many readers have subscribed by now; none where the bus does not tell.
    [[nodiscard]] virtual int readers() = 0;
    [[nodiscard]] virtual bool tells_readers() const { return true; }
    // False: a reader is behind and nothing was sent; ask again. `component`: of the recording.
    virtual Result<bool> send(std::string_view component, std::string_view payload,
                              std::int64_t published_at_ms) = 0;
    // Waits until everything has left.
    virtual Result<void> finish() { return {}; }
};

// All that can be wrong with the request is found here.
Result<std::unique_ptr<Outlet>> open_outlet(const OutletRequest&);

}  // namespace dynaplan::app
