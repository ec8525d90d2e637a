#include "bus/broker_plane.hpp"

#include "bus/event_plane.hpp"
#include "wire/nats_subject.hpp"

namespace dynaplan::bus {

namespace {

constexpr std::size_t recent_most = 100'000;  // event plane specification 5.4

}  // namespace

BrokerPlane::BrokerPlane(const BrokerOptions& options, port::EventSink& sink, port::BusCounts& counts,
                         const port::WorkerDirectory* directory)
    : intake_{sink, counts, directory, options.topic}, links_{sink, counts} {
    role_by_key_.emplace(options.topic, std::nullopt);
    for (const WantedEndpoint& wanted : options.endpoints) {
        const auto [place, is_new] = role_by_key_.emplace(
            wire::zmq_routing_key(wire::ZmqMode::broker, wire::Era::august, wanted.scope, options.topic),
            wanted.role);
        // Two roles on one endpoint: the key does not tell which.
        if (!is_new && place->second != wanted.role) place->second.reset();
    }
    if (options.drop_repeats && options.xpub_urls.size() > 1) recent_.emplace(recent_most);
}

Result<std::unique_ptr<BrokerPlane>> BrokerPlane::open(boost::asio::io_context& io, zmq::context_t& context,
                                                       const BrokerOptions& options, port::EventSink& sink,
                                                       port::BusCounts& counts,
                                                       const port::WorkerDirectory* directory) {
    if (options.xpub_urls.empty()) return failure("the ZeroMQ broker has no xpub endpoint to subscribe to");
    std::unique_ptr<BrokerPlane> plane{new BrokerPlane{options, sink, counts, directory}};
    ZmqOptions socket_options{.url = {}, .topics = {}, .receive_high_water = event_high_water};
    for (const auto& [key, role] : plane->role_by_key_) socket_options.topics.push_back(key);
    std::string problems;
    for (std::size_t i = 0; i < options.xpub_urls.size(); ++i) {
        socket_options.url = options.xpub_urls[i];
        const std::string key = std::to_string(i);
        plane->links_.add(key, socket_options.url);
        BrokerPlane* self = plane.get();
        auto socket = ZmqSubscriber::open(
            io, context, socket_options,
            [self](std::span<const std::string_view> frames) { self->take(frames); },
            [self, key](bool up) { self->links_.set(key, up); });
        if (socket) {
            plane->sockets_.push_back(std::move(*socket));
        } else {
            problems += (problems.empty() ? "" : "; ") + socket.error().message;
        }
    }
    if (!problems.empty()) return failure(problems);
    return plane;
}

void BrokerPlane::take(std::span<const std::string_view> frames) {
    const wire::EventMessage* event = intake_.read(frames);
    if (event == nullptr) return;
    if (recent_ && recent_->seen(event->envelope)) return intake_.refuse("repeated");
    const auto place = role_by_key_.find(event->routing_key);
    intake_.take(place == role_by_key_.end() ? std::nullopt : place->second, event->envelope);
}

}  // namespace dynaplan::bus
