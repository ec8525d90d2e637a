// What all publishers over ZeroMQ share: a socket that sends multipart messages and knows who listens.
//
// It is an XPUB socket, which on the wire is a PUB socket that hears of each subscription. One thread at a
// time; nothing blocks longer than ZeroMQ takes to copy.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace zmq {
class context_t;
class socket_t;
}  // namespace zmq

namespace dynaplan::bus {

struct OutletOptions {
    int send_high_water = 1000;  // messages for each reader, ZeroMQ's default
    // What happens to a message for a reader whose queue is full: lost unseen, or send() answers false.
    bool drops = true;
};

class ZmqOutlet {
public:
    // "tcp://127.0.0.1:*" takes any free port, which endpoint() then names.
    static Result<ZmqOutlet> bind(zmq::context_t&, const std::string& url, const OutletOptions&);
    // Connects in the background to every address: the way to a broker.
    static Result<ZmqOutlet> connect(zmq::context_t&, const std::vector<std::string>& urls,
                                     const OutletOptions&);
    ZmqOutlet(ZmqOutlet&&) noexcept;
    ZmqOutlet& operator=(ZmqOutlet&&) noexcept;
    ~ZmqOutlet();

    [[nodiscard]] const std::string& endpoint() const { return endpoint_; }  // of bind(), else empty
    // At least one frame. False: nothing was sent, ask again.
    bool send(std::span<const std::string_view> frames);
    // Subscriptions in force: one for each reader and prefix; a broker's count for its readers.
    [[nodiscard]] int subscribers();

private:
    explicit ZmqOutlet(std::unique_ptr<zmq::socket_t> socket);
    static Result<ZmqOutlet> open(zmq::context_t&, const OutletOptions&);

    std::unique_ptr<zmq::socket_t> socket_;
    std::string endpoint_;
    int subscribers_ = 0;
};

}  // namespace dynaplan::bus
