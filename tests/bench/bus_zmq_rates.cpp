// ZeroMQ over tcp, four frames: a loop that receives and does nothing else, against the way to the model.
#include <array>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <zmq.hpp>

#include "bench/bus_rates.hpp"
#include "bus/event_plane.hpp"
#include "core/assert.hpp"
#include "port/bus_counts.hpp"
#include "wire/zmq_frames.hpp"

namespace dynaplan::bench {

namespace {

using Frames = std::array<std::string, 4>;
constexpr std::int64_t warm_up = 1'000;

// One socket for each role, and a thread that sends as fast as they are read, until the end.
class Source {
public:
    explicit Source(const std::vector<BusReport>& reports) {
        std::uint64_t sequence = 0;
        for (const BusReport& report : reports) {
            Frames frames;
            wire::write_event(wire::fpm_topic, {77, sequence++, 1, wire::fpm_topic, report.payload}, frames);
            messages_.emplace_back(report.role, std::move(frames));
        }
        for (const Role role : all_roles) {
            zmq::socket_t& socket = sockets_[role];
            socket = zmq::socket_t{context_, zmq::socket_type::xpub};
            socket.set(zmq::sockopt::linger, 0);
            socket.set(zmq::sockopt::xpub_nodrop, 1);
            socket.set(zmq::sockopt::sndtimeo, 100);
            socket.bind("tcp://127.0.0.1:*");
            endpoints[role] = socket.get(zmq::sockopt::last_endpoint);
        }
    }
    ~Source() {
        stopping_ = true;
        if (thread_.joinable()) thread_.join();
    }
    // Once both are subscribed to.
    void start() {
        thread_ = std::thread{[this] {
            zmq::message_t subscription;
            for (const Role role : all_roles) {
                while (!stopping_ && !sockets_[role].recv(subscription, zmq::recv_flags::dontwait))
                    std::this_thread::yield();
            }
            for (std::size_t i = 0; !stopping_; i = (i + 1) % messages_.size()) {
                const auto& [role, frames] = messages_[i];
                zmq::socket_t& socket = sockets_[role];
                while (!stopping_ && !socket.send(zmq::buffer(frames[0]), zmq::send_flags::sndmore)) {
                }
                if (stopping_) return;
                socket.send(zmq::buffer(frames[1]), zmq::send_flags::sndmore);
                socket.send(zmq::buffer(frames[2]), zmq::send_flags::sndmore);
                socket.send(zmq::buffer(frames[3]), zmq::send_flags::none);
            }
        }};
    }
    PerRole<std::string> endpoints;

private:
    zmq::context_t context_{1};
    PerRole<zmq::socket_t> sockets_;
    std::vector<std::pair<Role, Frames>> messages_;
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

}  // namespace

double zmq_bare(const std::vector<BusReport>& reports, std::int64_t messages) {
    Source source{reports};
    zmq::context_t context{1};
    zmq::socket_t socket{context, zmq::socket_type::sub};
    socket.set(zmq::sockopt::linger, 0);
    socket.set(zmq::sockopt::rcvhwm, bus::event_high_water);
    socket.set(zmq::sockopt::subscribe, wire::fpm_topic);
    for (const Role role : all_roles) socket.connect(source.endpoints[role]);
    source.start();
    Arrivals arrivals{warm_up, messages};
    while (!arrivals.done()) {
        zmq::message_t frame;
        do {
            DYNAPLAN_ASSERT(socket.recv(frame).has_value());
        } while (frame.more());
        arrivals.one();
    }
    return arrivals.per_second();
}

double zmq_to_model(const std::vector<BusReport>& reports, std::int64_t messages) {
    Source source{reports};
    zmq::context_t context{1};
    boost::asio::io_context io{1};
    Arrivals arrivals{warm_up, messages};
    ModelSink sink{arrivals};
    port::BusCounts counts;
    auto plane = bus::EventPlane::open(
        io, context,
        {{source.endpoints[Role::prefill], Role::prefill}, {source.endpoints[Role::decode], Role::decode}},
        sink, counts);
    DYNAPLAN_ASSERT(plane.has_value());
    source.start();
    while (!arrivals.done()) io.run_one();
    DYNAPLAN_ASSERT(counts.refused.empty() && sink.observed() > messages);
    return arrivals.per_second();
}

}  // namespace dynaplan::bench
