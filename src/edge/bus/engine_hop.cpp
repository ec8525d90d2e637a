#include "bus/engine_hop.hpp"

#include <algorithm>

#include "wire/zmq_frames.hpp"

namespace dynaplan::bus {

Result<std::unique_ptr<EngineHop>> EngineHop::open(boost::asio::io_context& io, zmq::context_t& context,
                                                   const std::vector<HopEndpoint>& endpoints,
                                                   port::EventSink& sink, port::BusCounts& counts) {
    std::unique_ptr<EngineHop> hop{new EngineHop{sink, counts}};
    hop->connected_.resize(endpoints.size());
    std::string problems;
    for (std::size_t i = 0; i < endpoints.size(); ++i) {
        EngineHop* self = hop.get();
        auto socket = ZmqSubscriber::open(
            io, context, {.url = endpoints[i].url, .topic = ""},
            [self, role = endpoints[i].role](std::span<const std::string_view> frames) {
                self->take(role, frames);
            },
            [self, i](bool connected) { self->link(i, connected); });
        if (socket) {
            hop->sockets_.push_back(std::move(*socket));
        } else {
            problems += (problems.empty() ? "" : "; ") + socket.error().message;
        }
    }
    if (!problems.empty()) return failure(problems);
    return hop;
}

// Topic and sequence are not looked at: the payload's own counter tells what was lost.
void EngineHop::take(Role role, std::span<const std::string_view> frames) {
    ++counts_.received;
    wire::EngineHopMessage message;
    if (!wire::read_engine_hop(frames, message)) {
        counts_.refuse("frame_count");
        return;
    }
    intake_.take(role, message.payload);
}

void EngineHop::link(std::size_t endpoint, bool connected) {
    connected_[endpoint] = connected;
    const bool any = std::find(connected_.begin(), connected_.end(), true) != connected_.end();
    if (any == any_) return;
    any_ = any;
    Event event{TimePoint{}, BusChanged{any}};
    sink_.take(event);
}

}  // namespace dynaplan::bus
