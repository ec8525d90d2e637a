#include "bus/event_plane.hpp"

#include <utility>

namespace dynaplan::bus {

Result<std::unique_ptr<EventPlane>> EventPlane::open(boost::asio::io_context& io, zmq::context_t& context,
                                                     const std::vector<EventEndpoint>& endpoints,
                                                     port::EventSink& sink, port::BusCounts& counts,
                                                     const port::WorkerDirectory* directory,
                                                     std::string topic) {
    std::unique_ptr<EventPlane> plane{new EventPlane{io, context, sink, counts, directory, std::move(topic)}};
    std::string problems;
    for (std::size_t i = 0; i < endpoints.size(); ++i) {
        // No discovery record has such a key: all of them hold slashes.
        const std::string key = "configured " + std::to_string(i);
        Connection& connection = plane->connections_[key];
        connection.channel = {key, endpoints[i].url, endpoints[i].role};
        plane->links_.add(key, endpoints[i].url);
        const std::string problem = plane->connect(connection);
        if (!problem.empty()) problems += (problems.empty() ? "" : "; ") + problem;
    }
    if (!problems.empty()) return failure(problems);
    return plane;
}

// Empty, or why the address cannot be used.
std::string EventPlane::connect(Connection& connection) {
    // The role is asked for with each message: it may come to be known later than the address.
    auto socket = ZmqSubscriber::open(
        io_, context_,
        {.url = connection.channel.url, .topics = {topic_}, .receive_high_water = event_high_water},
        [this, channel = &connection.channel](std::span<const std::string_view> frames) {
            if (const auto* event = intake_.read(frames)) intake_.take(channel->role, event->envelope);
        },
        [this, key = connection.channel.key](bool up) { links_.set(key, up); });
    if (!socket) {
        connection.socket.reset();
        return socket.error().message;
    }
    connection.socket = std::move(*socket);
    return {};
}

void EventPlane::channel_added(const port::Channel& channel) {
    const auto [place, is_new] = connections_.try_emplace(channel.key);
    Connection& connection = place->second;
    const bool same_address = !is_new && connection.channel.url == channel.url;
    connection.channel = channel;
    if (same_address) return;
    connection.socket.reset();
    const std::string problem = connect(connection);
    if (!problem.empty()) counts_.error("channel_address");
    links_.add(channel.key, channel.url, problem);
}

void EventPlane::channel_removed(std::string_view key) {
    const auto place = connections_.find(key);
    if (place == connections_.end()) return;
    const std::string gone = place->first;  // `key` may be the record's own
    connections_.erase(place);
    links_.remove(gone);
}

}  // namespace dynaplan::bus
