// One ZeroMQ SUB socket in the loop: its messages, frame by frame, and whether its peer is there.
//
// ZeroMQ reconnects by itself; the monitor says when. A peer that it has given up for good, as it does with
// one that breaks the protocol, is connected again from here. Messages are read in batches, so that timers
// run in between (measured pattern: read until EAGAIN, look at ZMQ_EVENTS, read again or wait for the
// descriptor).
//
// A message above a mebibyte ends its connection, which is then made anew: a report takes some 400
// bytes, and without a bound one hostile peer could fill the memory.
//
// Each subscriber takes three of the context's sockets (ZMQ_MAX_SOCKETS, 1023 unless set before the first).
//
// The loop's thread. Closing is the destructor's; pending handlers find a closed socket and end.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "core/result.hpp"

namespace zmq {
class context_t;
}

namespace dynaplan::bus {

struct ZmqOptions {
    std::string url;                      // tcp://HOST:PORT or ipc://PATH
    std::vector<std::string> topics{""};  // prefixes; the empty one: everything
    int receive_high_water = 1000;        // messages, ZeroMQ's default
};

class ZmqSubscriber {
public:
    // A message's frames; the views end with the call.
    using OnMessage = std::function<void(std::span<const std::string_view> frames)>;
    using OnLink = std::function<void(bool connected)>;

    // Connects in the background; the callbacks come from the loop, never from inside this call. An error is
    // one of the address.
    static Result<std::unique_ptr<ZmqSubscriber>> open(boost::asio::io_context&, zmq::context_t&,
                                                       const ZmqOptions&, OnMessage, OnLink);
    ~ZmqSubscriber();
    ZmqSubscriber(const ZmqSubscriber&) = delete;
    ZmqSubscriber& operator=(const ZmqSubscriber&) = delete;

private:
    class Link;
    explicit ZmqSubscriber(std::shared_ptr<Link> link) : link_{std::move(link)} {}
    std::shared_ptr<Link> link_;
};

}  // namespace dynaplan::bus
