// A ZeroMQ PUB socket that speaks as an engine's scheduler does: three frames, a sequence from 0 (event plane
// specification 2). For `publish`, tests and the demo.
//
// One thread at a time; send() never blocks longer than ZeroMQ takes to copy.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace zmq {
class context_t;
class socket_t;
}  // namespace zmq

namespace dynaplan::bus {

class ZmqPublisher {
public:
    // Binds; "tcp://127.0.0.1:*" takes any free port, which endpoint() then names. Without `drops` a full
    // queue of a slow reader makes send() answer false instead of losing the message unseen.
    static Result<std::unique_ptr<ZmqPublisher>> bind(zmq::context_t&, const std::string& url, bool drops);
    ~ZmqPublisher();
    ZmqPublisher(const ZmqPublisher&) = delete;
    ZmqPublisher& operator=(const ZmqPublisher&) = delete;

    [[nodiscard]] const std::string& endpoint() const { return endpoint_; }
    // False: nothing was sent, ask again.
    bool send(std::string_view payload);
    // How many readers have subscribed by now.
    [[nodiscard]] int subscribers();

private:
    ZmqPublisher(std::unique_ptr<zmq::socket_t> socket, std::string endpoint);
    std::unique_ptr<zmq::socket_t> socket_;
    std::string endpoint_;
    std::uint64_t sequence_ = 0;
    int subscribers_ = 0;
};

}  // namespace dynaplan::bus
