#include "bus/engine_hop.hpp"

#include "wire/zmq_frames.hpp"

namespace dynaplan::bus {

Result<std::unique_ptr<EngineHop>> EngineHop::open(boost::asio::io_context& io, zmq::context_t& context,
                                                   const std::vector<HopEndpoint>& endpoints,
                                                   port::EventSink& sink, port::BusCounts& counts,
                                                   const port::WorkerDirectory* directory) {
    std::unique_ptr<EngineHop> hop{new EngineHop{sink, counts, directory}};
    std::string problems;
    for (std::size_t i = 0; i < endpoints.size(); ++i) {
        EngineHop* self = hop.get();
        const std::string key = std::to_string(i);
        hop->links_.add(key, endpoints[i].url);
        auto socket = ZmqSubscriber::open(
            io, context, {.url = endpoints[i].url},
            [self, role = endpoints[i].role](std::span<const std::string_view> frames) {
                self->take(role, frames);
            },
            [self, key](bool connected) { self->links_.set(key, connected); });
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
void EngineHop::take(std::optional<Role> role, std::span<const std::string_view> frames) {
    ++counts_.received;
    wire::EngineHopMessage message;
    if (!wire::read_engine_hop(frames, message)) {
        counts_.refuse("frame_count");
        return;
    }
    intake_.take(role, message.payload);
}

}  // namespace dynaplan::bus
