#include "bus/zmq_subscriber.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <zmq.hpp>

namespace dynaplan::bus {

namespace {

constexpr int batch_most = 256;          // messages, then timers may run
constexpr std::size_t frames_most = 16;  // of one message; no format has more than four
constexpr int reconnect_first_ms = 100;
constexpr int reconnect_most_ms = 5000;
constexpr int handshake_ms = 5000;
// ZeroMQ gives a peer up for good that breaks the protocol or sends what is too large, and does not say so.
// When it means to try again it does say so, at once.
constexpr auto given_up_after = std::chrono::seconds{1};
constexpr std::int64_t message_bytes_most = std::int64_t{1} << 20;
// A peer that vanished without a word is noticed after a minute; the system's own idle time is two hours.
constexpr int keepalive_idle_s = 30;
constexpr int keepalive_interval_s = 10;
constexpr int keepalive_probes = 3;

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
    // all. ZeroMQ's exceptions end here: but for an interruption by a signal they mean that the socket is of
    // no more use, its context has ended for example.
    template <class Owner>
    void watch(const std::weak_ptr<Owner>& owner, bool (Owner::*drain)()) {
        const std::shared_ptr<Owner> alive = owner.lock();
        if (!alive) return;
        bool more = true;
        try {
            const bool all_read = ((*alive).*drain)();
            more = !all_read || (socket_.get(zmq::sockopt::events) & ZMQ_POLLIN) != 0;
        } catch (const zmq::error_t& e) {
            if (e.num() != EINTR) return alive->end();
        }
        if (more) {
            boost::asio::post(io_, [this, owner, drain] {
                if (!owner.expired()) watch(owner, drain);
            });
            return;
        }
        descriptor_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                               [this, owner, drain](const boost::system::error_code&) {
                                   if (!owner.expired()) watch(owner, drain);
                               });
    }
    // Another call on the socket may have taken the wake-up that a message gave: look without one.
    void look() { descriptor_.cancel(); }
    // watch() from the loop, not from inside its caller: whom the callbacks belong to is still being built.
    template <class Owner>
    void begin(const std::weak_ptr<Owner>& owner, bool (Owner::*drain)()) {
        boost::asio::post(io_, [this, owner, drain] {
            if (!owner.expired()) watch(owner, drain);
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
    Link(boost::asio::io_context& io, std::string url, zmq::socket_t data, zmq::socket_t monitor,
         OnMessage on_message, OnLink on_link)
        : url_{std::move(url)},
          data_{io, std::move(data)},
          monitor_{io, std::move(monitor)},
          given_up_{io},
          on_message_{std::move(on_message)},
          on_link_{std::move(on_link)} {}

    void start() {
        monitor_.begin(weak_from_this(), &Link::drain_monitor);
        data_.begin(weak_from_this(), &Link::drain_data);
    }
    // May be called from one of the callbacks, which therefore stay.
    void close() { closed_ = true; }
    // Neither socket can be read any more.
    void end() {
        if (!std::exchange(closed_, true)) on_link_(false);
    }

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
            if (kind == ZMQ_EVENT_DISCONNECTED) {
                connect_unless_tried_again();
                on_link_(false);
            } else {
                given_up_.cancel();
                if (kind == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) on_link_(true);
            }
        }
        return false;
    }
    void connect_unless_tried_again() {
        given_up_.expires_after(given_up_after);
        given_up_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
            const auto self = weak.lock();
            if (error || !self || self->closed_) return;
            try {
                self->connect_anew();
            } catch (const zmq::error_t&) {
                self->end();
            }
        });
    }
    void connect_anew() {
        try {
            data_.socket().disconnect(url_);
        } catch (const zmq::error_t& e) {
            if (e.num() != ENOENT) throw;  // it is gone already
        }
        data_.socket().connect(url_);
        data_.look();
    }

    std::string url_;
    Watched data_;
    Watched monitor_;
    boost::asio::steady_timer given_up_;
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
    const auto wrong = [&](const std::string& what) {
        return failure("bus endpoint '" + options.url + "': " + what +
                       "; an address reads tcp://HOST:PORT or ipc://PATH");
    };
    if (!options.url.starts_with("tcp://") && !options.url.starts_with("ipc://"))
        return wrong("neither tcp nor ipc");
    // cppzmq reports by exceptions; they end here.
    try {
        zmq::socket_t data{context, zmq::socket_type::sub};
        data.set(zmq::sockopt::linger, 0);
        data.set(zmq::sockopt::rcvhwm, options.receive_high_water);
        data.set(zmq::sockopt::reconnect_ivl, reconnect_first_ms);
        data.set(zmq::sockopt::reconnect_ivl_max, reconnect_most_ms);
        data.set(zmq::sockopt::handshake_ivl, handshake_ms);
        data.set(zmq::sockopt::tcp_keepalive, 1);
        data.set(zmq::sockopt::tcp_keepalive_idle, keepalive_idle_s);
        data.set(zmq::sockopt::tcp_keepalive_intvl, keepalive_interval_s);
        data.set(zmq::sockopt::tcp_keepalive_cnt, keepalive_probes);
        data.set(zmq::sockopt::maxmsgsize, message_bytes_most);
        // Only for a literal address: a name would then be looked up as IPv6 first, where few listen.
        data.set(zmq::sockopt::ipv6, options.url.find('[') != std::string::npos);
        const std::string address = monitor_address();
        constexpr int watched = ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CONNECTED |
                                ZMQ_EVENT_CONNECT_DELAYED | ZMQ_EVENT_CONNECT_RETRIED;
        if (zmq_socket_monitor(data.handle(), address.c_str(), watched) != 0) {
            return failure(options.url +
                           ": ZeroMQ cannot watch the connection: " + zmq_strerror(zmq_errno()));
        }
        zmq::socket_t monitor{context, zmq::socket_type::pair};
        monitor.set(zmq::sockopt::linger, 0);
        monitor.connect(address);
        for (const std::string& topic : options.topics) data.set(zmq::sockopt::subscribe, topic);
        data.connect(options.url);
        auto link = std::make_shared<Link>(io, options.url, std::move(data), std::move(monitor),
                                           std::move(on_message), std::move(on_link));
        link->start();
        return std::unique_ptr<ZmqSubscriber>{new ZmqSubscriber{std::move(link)}};
    } catch (const zmq::error_t& e) {
        if (e.num() == EMFILE)
            return failure("bus endpoint '" + options.url +
                           "': no more sockets; raise the limit of open files");
        return wrong(e.what());
    }
}

ZmqSubscriber::~ZmqSubscriber() { link_->close(); }

}  // namespace dynaplan::bus
