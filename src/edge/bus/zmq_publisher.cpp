#include "bus/zmq_publisher.hpp"

#include <utility>

#include "wire/zmq_frames.hpp"

namespace dynaplan::bus {

Result<std::unique_ptr<ZmqPublisher>> ZmqPublisher::bind(zmq::context_t& context, const std::string& url,
                                                         bool drops) {
    auto outlet = ZmqOutlet::bind(context, url, {.drops = drops});
    if (!outlet) return tl::unexpected{outlet.error()};
    return std::unique_ptr<ZmqPublisher>{new ZmqPublisher{std::move(*outlet)}};
}

bool ZmqPublisher::send(std::string_view payload) {
    wire::write_engine_hop(sequence_, payload, frames_);
    const std::array<std::string_view, 3> views{frames_[0], frames_[1], frames_[2]};
    if (!outlet_.send(views)) return false;
    ++sequence_;
    return true;
}

}  // namespace dynaplan::bus
