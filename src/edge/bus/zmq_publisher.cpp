#include "bus/zmq_publisher.hpp"

#include <array>
#include <utility>

#include <zmq.hpp>

namespace dynaplan::bus {

ZmqPublisher::ZmqPublisher(std::unique_ptr<zmq::socket_t> socket, std::string endpoint)
    : socket_{std::move(socket)}, endpoint_{std::move(endpoint)} {}
ZmqPublisher::~ZmqPublisher() = default;

Result<std::unique_ptr<ZmqPublisher>> ZmqPublisher::bind(zmq::context_t& context, const std::string& url,
                                                         bool drops) {
    try {
        auto socket = std::make_unique<zmq::socket_t>(context, zmq::socket_type::xpub);
        constexpr int linger_ms = 1000;
        socket->set(zmq::sockopt::linger, linger_ms);
        socket->set(zmq::sockopt::xpub_nodrop, drops ? 0 : 1);
        socket->bind(url);
        std::string endpoint = socket->get(zmq::sockopt::last_endpoint);
        return std::unique_ptr<ZmqPublisher>{new ZmqPublisher{std::move(socket), std::move(endpoint)}};
    } catch (const zmq::error_t& e) {
        return failure("cannot publish on '" + url + "': " + e.what() + "; is the port taken?");
    }
}

bool ZmqPublisher::send(std::string_view payload) {
    std::array<unsigned char, 8> sequence{};
    for (std::size_t i = 0; i < sequence.size(); ++i) {
        constexpr unsigned bits = 8;
        sequence[i] = static_cast<unsigned char>(sequence_ >> (bits * (sequence.size() - 1 - i)));
    }
    try {
        if (!socket_->send(zmq::message_t{}, zmq::send_flags::sndmore | zmq::send_flags::dontwait))
            return false;
        // A message is taken whole or not at all: after its first frame the others find room.
        socket_->send(zmq::buffer(sequence.data(), sequence.size()), zmq::send_flags::sndmore);
        socket_->send(zmq::buffer(payload.data(), payload.size()), zmq::send_flags::none);
    } catch (const zmq::error_t&) {
        return false;
    }
    ++sequence_;
    return true;
}

int ZmqPublisher::subscribers() {
    zmq::message_t note;
    while (socket_->recv(note, zmq::recv_flags::dontwait)) {
        if (note.size() == 0) continue;
        subscribers_ += *static_cast<const unsigned char*>(note.data()) == 1 ? 1 : -1;
    }
    return subscribers_;
}

}  // namespace dynaplan::bus
