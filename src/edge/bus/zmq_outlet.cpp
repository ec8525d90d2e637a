#include "bus/zmq_outlet.hpp"

#include <utility>

#include <zmq.hpp>

namespace dynaplan::bus {

ZmqOutlet::ZmqOutlet(std::unique_ptr<zmq::socket_t> socket) : socket_{std::move(socket)} {}
ZmqOutlet::ZmqOutlet(ZmqOutlet&&) noexcept = default;
ZmqOutlet& ZmqOutlet::operator=(ZmqOutlet&&) noexcept = default;
ZmqOutlet::~ZmqOutlet() = default;

Result<ZmqOutlet> ZmqOutlet::open(zmq::context_t& context, const OutletOptions& options) {
    try {
        auto socket = std::make_unique<zmq::socket_t>(context, zmq::socket_type::xpub);
        constexpr int linger_ms = 1000;
        socket->set(zmq::sockopt::linger, linger_ms);
        socket->set(zmq::sockopt::sndhwm, options.send_high_water);
        socket->set(zmq::sockopt::xpub_nodrop, options.drops ? 0 : 1);
        // Without it only the first subscription to a prefix and the end of the last would be heard of.
        socket->set(zmq::sockopt::xpub_verboser, 1);
        return ZmqOutlet{std::move(socket)};
    } catch (const zmq::error_t& e) {
        return failure(std::string{"ZeroMQ gives no socket: "} + e.what());
    }
}

Result<ZmqOutlet> ZmqOutlet::bind(zmq::context_t& context, const std::string& url,
                                  const OutletOptions& options) {
    auto outlet = open(context, options);
    if (!outlet) return outlet;
    try {
        outlet->socket_->set(zmq::sockopt::ipv6, url.find('[') != std::string::npos);
        outlet->socket_->bind(url);
        outlet->endpoint_ = outlet->socket_->get(zmq::sockopt::last_endpoint);
        return outlet;
    } catch (const zmq::error_t& e) {
        return failure("cannot publish on '" + url + "': " + e.what() + "; is the port taken?");
    }
}

Result<ZmqOutlet> ZmqOutlet::connect(zmq::context_t& context, const std::vector<std::string>& urls,
                                     const OutletOptions& options) {
    if (urls.empty()) return failure("cannot publish to a broker: no xsub endpoint is given");
    auto outlet = open(context, options);
    if (!outlet) return outlet;
    std::string problems;
    for (const std::string& url : urls) {
        try {
            outlet->socket_->set(zmq::sockopt::ipv6, url.find('[') != std::string::npos);
            outlet->socket_->connect(url);
        } catch (const zmq::error_t& e) {
            problems += (problems.empty() ? "" : "; ") + ("cannot publish to '" + url) + "': " + e.what() +
                        "; an address reads tcp://HOST:PORT";
        }
    }
    if (!problems.empty()) return failure(problems);
    return outlet;
}

bool ZmqOutlet::send(std::span<const std::string_view> frames) {
    static_cast<void>(subscribers());  // what is not read piles up in the socket
    try {
        for (std::size_t i = 0; i < frames.size(); ++i) {
            // A message is taken whole or not at all: after its first frame the others find room.
            const auto flags = (i == 0 ? zmq::send_flags::dontwait : zmq::send_flags::none) |
                               (i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
            if (!socket_->send(zmq::buffer(frames[i]), flags)) return false;
        }
    } catch (const zmq::error_t&) {
        return false;
    }
    return true;
}

int ZmqOutlet::subscribers() {
    try {
        zmq::message_t note;
        while (socket_->recv(note, zmq::recv_flags::dontwait)) {
            if (note.size() == 0) continue;
            const auto kind = *static_cast<const unsigned char*>(note.data());
            if (kind == 1) ++subscribers_;
            if (kind == 0) --subscribers_;
        }
    } catch (const zmq::error_t&) {
        // A context that has ended has no subscribers to tell of.
    }
    return subscribers_;
}

}  // namespace dynaplan::bus
