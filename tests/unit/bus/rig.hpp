// What the tests of the bus share: a sink that remembers, a loop that runs until something holds, payloads.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <boost/asio/io_context.hpp>
#include <zmq.hpp>

#include "core/event.hpp"
#include "port/bus_counts.hpp"
#include "port/event_sink.hpp"
#include "port/workers.hpp"
#include "wire/fpm_encode.hpp"

namespace dynaplan::bus::testing {

class Seen final : public port::EventSink {
public:
    void take(Event& event) override {
        if (const auto* fpm = std::get_if<FpmArrived>(&event.body)) {
            reports.push_back(*fpm);
        } else if (const auto* bus = std::get_if<BusChanged>(&event.body)) {
            links.push_back(bus->connected);
        }
    }
    std::vector<FpmArrived> reports;
    std::vector<bool> links;
};

class Directory final : public port::WorkerDirectory {
public:
    [[nodiscard]] std::optional<Role> role_of(std::string_view worker_id) const override {
        if (worker_id == "1") return Role::prefill;
        if (worker_id == "2") return Role::decode;
        return std::nullopt;
    }
};

struct Rig {
    // Runs the loop until the condition holds; fails after a bound that only a fault can reach.
    void until(const std::function<bool()>& condition) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{30};
        bool holds = condition();  // asked once a round: asking may take something away
        while (!holds && std::chrono::steady_clock::now() < deadline) {
            io.restart();
            io.run_for(std::chrono::milliseconds{5});
            holds = condition();
        }
        REQUIRE(holds);
    }
    // Runs what is ready now, and nothing that has to be waited for.
    void settle() {
        io.restart();
        io.poll();
    }
    [[nodiscard]] std::uint64_t refused(std::string_view cause) const {
        const auto place = counts.refused.find(cause);
        return place == counts.refused.end() ? 0 : place->second;
    }
    [[nodiscard]] std::uint64_t refused() const {
        std::uint64_t sum = 0;
        for (const auto& [cause, count] : counts.refused) sum += count;
        return sum;
    }

    zmq::context_t context{1};
    boost::asio::io_context io{1};
    Seen seen;
    port::BusCounts counts;
};

// A raw XPUB socket: whatever frames a test wants to send.
class RawPublisher {
public:
    explicit RawPublisher(zmq::context_t& context, const std::string& url = "tcp://127.0.0.1:*")
        : socket_{context, zmq::socket_type::xpub} {
        socket_.set(zmq::sockopt::linger, 0);
        socket_.set(zmq::sockopt::xpub_verboser, 1);
        socket_.set(zmq::sockopt::ipv6, url.find('[') != std::string::npos);
        socket_.bind(url);
    }
    [[nodiscard]] std::string endpoint() { return socket_.get(zmq::sockopt::last_endpoint); }
    // Subscriptions so far, ended ones included.
    int subscriptions() {
        zmq::message_t note;
        while (socket_.recv(note, zmq::recv_flags::dontwait)) {
            if (note.size() > 0 && *note.data<char>() == 1) ++subscriptions_;
        }
        return subscriptions_;
    }
    template <class Frames>
    void send(const Frames& frames) {
        for (std::size_t i = 0; i < frames.size(); ++i) {
            socket_.send(zmq::buffer(frames[i]),
                         i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
        }
    }

private:
    zmq::socket_t socket_;
    int subscriptions_ = 0;
};

inline std::string payload(const std::string& worker, std::int64_t counter) {
    Fpm fpm;
    fpm.worker_id = worker;
    fpm.pass.counter_id = counter;
    fpm.pass.wall_time = 0.01;
    fpm.pass.scheduled.num_decode_requests = 3;
    std::string bytes;
    wire::encode_fpm(fpm, bytes);
    return bytes;
}

}  // namespace dynaplan::bus::testing
