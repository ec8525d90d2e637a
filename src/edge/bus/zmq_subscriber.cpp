#include "bus/zmq_subscriber.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <zmq.hpp>

namespace dynaplan::bus {

namespace {

constexpr int batch_most = 256;          // messages, then timers may run
constexpr std::size_t frames_most = 16;  // of one message; no format has more than four
constexpr int reconnect_first_ms = 100;
constexpr int reconnect_most_ms = 5000;

std::string monitor_address() {
    static std::atomic<std::uint64_t> number{0};
    return "inproc://dynaplan-monitor-" + std::to_string(++number);
}

// A socket's descriptor as the loop watches it. Asio must not close it: it is ZeroMQ's.
class Watched {
public:
    Watched(boost::asio::io_context& io, zmq::socket_t socket)
        : io_{io}, socket_{std::move(socket)}, descriptor_{io, socket_.get(zmq::sockopt::fd)} {}
    ~Watched() { descriptor_.release(); }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

    zmq::socket_t& socket() { return socket_; }

    // Calls `drain` whenever something may be readable; it reads at most a batch and says whether it read
    // all.
    template <class Owner>
    void watch(const std::weak_ptr<Owner>& owner, bool (Owner::*drain)()) {
        const std::shared_ptr<Owner> alive = owner.lock();
        if (!alive) return;
        const bool all_read = ((*alive).*drain)();
        const bool more = !all_read || (socket_.get(zmq::sockopt::events) & ZMQ_POLLIN) != 0;
        if (more) {
            boost::asio::post(io_, [this, owner, drain] {
                if (!owner.expired()) watch(owner, drain);
            });
            return;
        }
        descriptor_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                               [this, owner, drain](const boost::system::error_code& error) {
                                   if (!error && !owner.expired()) watch(owner, drain);
                               });
    }

private:
    boost::asio::io_context& io_;
    zmq::socket_t socket_;
    boost::asio::posix::stream_descriptor descriptor_;
};

}  // namespace

class ZmqSubscriber::Link : public std::enable_shared_from_this<Link> {
public:
    Link(boost::asio::io_context& io, zmq::socket_t data, zmq::socket_t monitor, OnMessage on_message,
         OnLink on_link)
        : data_{io, std::move(data)},
          monitor_{io, std::move(monitor)},
          on_message_{std::move(on_message)},
          on_link_{std::move(on_link)} {}

    void start() {
        monitor_.watch(weak_from_this(), &Link::drain_monitor);
        data_.watch(weak_from_this(), &Link::drain_data);
    }
    // May be called from one of the callbacks, which therefore stay.
    void close() { closed_ = true; }

private:
    bool drain_data() {
        for (int i = 0; i < batch_most; ++i) {
            if (closed_ || !receive()) return true;
            on_message_(std::span{views_.data(), count_});
        }
        return false;
    }
    // One whole message into views_; frames beyond the limit are read and only counted.
    bool receive() {
        count_ = 0;
        for (bool more = true; more;) {
            zmq::message_t& frame = frames_[std::min(count_, frames_most - 1)];
            const auto size = data_.socket().recv(frame, zmq::recv_flags::dontwait);
            if (!size) return false;
            more = frame.more();
            if (count_ < frames_most) views_[count_] = {static_cast<const char*>(frame.data()), frame.size()};
            ++count_;
        }
        count_ = std::min(count_, frames_most);
        return true;
    }
    bool drain_monitor() {
        for (int i = 0; i < batch_most; ++i) {
            zmq::message_t event;
            if (!monitor_.socket().recv(event, zmq::recv_flags::dontwait)) return true;
            zmq::message_t address;
            while (event.more() && monitor_.socket().recv(address, zmq::recv_flags::dontwait) &&
                   address.more()) {
            }
            std::uint16_t kind = 0;
            if (event.size() < sizeof kind) continue;
            std::memcpy(&kind, event.data(), sizeof kind);
            if (closed_) return true;
            if (kind == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) on_link_(true);
            if (kind == ZMQ_EVENT_DISCONNECTED) on_link_(false);
        }
        return false;
    }

    Watched data_;
    Watched monitor_;
    OnMessage on_message_;
    OnLink on_link_;
    std::array<zmq::message_t, frames_most> frames_;
    std::array<std::string_view, frames_most> views_;
    std::size_t count_ = 0;
    bool closed_ = false;
};

Result<std::unique_ptr<ZmqSubscriber>> ZmqSubscriber::open(boost::asio::io_context& io,
                                                           zmq::context_t& context, const ZmqOptions& options,
                                                           OnMessage on_message, OnLink on_link) {
    // cppzmq reports by exceptions; they end here.
    try {
        zmq::socket_t data{context, zmq::socket_type::sub};
        data.set(zmq::sockopt::linger, 0);
        data.set(zmq::sockopt::rcvhwm, options.receive_high_water);
        data.set(zmq::sockopt::reconnect_ivl, reconnect_first_ms);
        data.set(zmq::sockopt::reconnect_ivl_max, reconnect_most_ms);
        data.set(zmq::sockopt::tcp_keepalive, 1);
        const std::string address = monitor_address();
        if (zmq_socket_monitor(data.handle(), address.c_str(),
                               ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED) != 0) {
            return failure(options.url +
                           ": ZeroMQ cannot watch the connection: " + zmq_strerror(zmq_errno()));
        }
        zmq::socket_t monitor{context, zmq::socket_type::pair};
        monitor.set(zmq::sockopt::linger, 0);
        monitor.connect(address);
        data.set(zmq::sockopt::subscribe, options.topic);
        data.connect(options.url);
        auto link = std::make_shared<Link>(io, std::move(data), std::move(monitor), std::move(on_message),
                                           std::move(on_link));
        link->start();
        return std::unique_ptr<ZmqSubscriber>{new ZmqSubscriber{std::move(link)}};
    } catch (const zmq::error_t& e) {
        return failure("bus endpoint '" + options.url + "': " + e.what() +
                       "; an address reads tcp://HOST:PORT or ipc://PATH");
    }
}

ZmqSubscriber::~ZmqSubscriber() { link_->close(); }

}  // namespace dynaplan::bus
