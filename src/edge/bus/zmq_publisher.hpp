// A publisher that speaks as an engine's scheduler does: three frames, a sequence from 0 (event plane
// specification 2). For `publish`, tests and the demo. One thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "bus/zmq_outlet.hpp"
#include "core/result.hpp"

namespace dynaplan::bus {

class ZmqPublisher {
public:
    // Binds; "tcp://127.0.0.1:*" takes any free port, which endpoint() then names. Without `drops` a full
    // queue of a slow reader makes send() answer false instead of losing the message unseen.
    static Result<std::unique_ptr<ZmqPublisher>> bind(zmq::context_t&, const std::string& url, bool drops);

    [[nodiscard]] const std::string& endpoint() const { return outlet_.endpoint(); }
    // False: nothing was sent, ask again.
    bool send(std::string_view payload);
    // How many readers have subscribed by now.
    [[nodiscard]] int subscribers() { return outlet_.subscribers(); }

private:
    explicit ZmqPublisher(ZmqOutlet outlet) : outlet_{std::move(outlet)} {}
    ZmqOutlet outlet_;
    std::uint64_t sequence_ = 0;
    std::array<std::string, 3> frames_;
};

}  // namespace dynaplan::bus
