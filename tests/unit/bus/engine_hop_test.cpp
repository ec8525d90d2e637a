// Real sockets over tcp on the loopback.
#include "bus/engine_hop.hpp"

#include <chrono>

#include <doctest/doctest.h>
#include <zmq.hpp>

#include "bus/zmq_publisher.hpp"
#include "wire/fpm_encode.hpp"

using namespace dynaplan;
using namespace dynaplan::bus;

namespace {

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

struct Rig {
    void open(const std::vector<HopEndpoint>& endpoints) {
        auto opened = EngineHop::open(io, context, endpoints, seen, counts);
        REQUIRE(opened.has_value());
        hop = std::move(*opened);
    }
    std::unique_ptr<ZmqPublisher> publisher(const std::string& url = "tcp://127.0.0.1:*") {
        auto bound = ZmqPublisher::bind(context, url, false);
        REQUIRE(bound.has_value());
        return std::move(*bound);
    }
    // Runs the loop until the condition holds; fails after a bound that only a fault can reach.
    void until(const std::function<bool()>& condition) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
        bool holds = condition();  // asked once a round: asking may take something away
        while (!holds && std::chrono::steady_clock::now() < deadline) {
            io.restart();
            io.run_for(std::chrono::milliseconds{5});
            holds = condition();
        }
        REQUIRE(holds);
    }

    zmq::context_t context{1};
    boost::asio::io_context io{1};
    Seen seen;
    port::BusCounts counts;
    std::unique_ptr<EngineHop> hop;
};

std::string payload(const std::string& worker, std::int64_t counter) {
    Fpm fpm;
    fpm.worker_id = worker;
    fpm.pass.counter_id = counter;
    fpm.pass.wall_time = 0.01;
    fpm.pass.scheduled.num_decode_requests = 3;
    std::string bytes;
    wire::encode_fpm(fpm, bytes);
    return bytes;
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("engine hop: reports arrive in order with their endpoint's role, and gaps are counted") {
        Rig rig;
        const auto prefill = rig.publisher();
        const auto decode = rig.publisher();
        rig.open({{prefill->endpoint(), Role::prefill}, {decode->endpoint(), Role::decode}});
        rig.until([&] { return prefill->subscribers() == 1 && decode->subscribers() == 1; });
        constexpr int n = 2000;
        int sent = 0;
        rig.until([&] {
            while (sent < n && decode->send(payload("7", sent < 10 ? sent : sent + 5))) ++sent;
            return sent == n;
        });
        REQUIRE(prefill->send(payload("8", 0)));
        rig.until([&] { return rig.seen.reports.size() == n + 1; });
        std::int64_t last = -1;
        int of_decode = 0;
        for (const FpmArrived& r : rig.seen.reports) {
            if (r.role == Role::prefill) {
                CHECK(r.fpm.worker_id == "8");
                continue;
            }
            CHECK(r.fpm.pass.counter_id > last);
            last = r.fpm.pass.counter_id;
            ++of_decode;
        }
        CHECK(of_decode == n);
        CHECK(rig.counts.received == n + 1);
        CHECK(rig.counts.decoded == n + 1);
        CHECK(rig.counts.gaps == 5);
        CHECK(rig.seen.links == std::vector<bool>{true});
    }

    TEST_CASE("engine hop: what cannot be used is counted by cause, and the stream goes on") {
        Rig rig;
        zmq::socket_t raw{rig.context, zmq::socket_type::xpub};
        raw.set(zmq::sockopt::linger, 0);
        raw.bind("tcp://127.0.0.1:*");
        rig.open({{raw.get(zmq::sockopt::last_endpoint), Role::decode}});
        zmq::message_t subscription;
        rig.until([&] { return raw.recv(subscription, zmq::recv_flags::dontwait).has_value(); });
        const auto send = [&](const std::vector<std::string>& frames) {
            for (std::size_t i = 0; i < frames.size(); ++i) {
                raw.send(zmq::buffer(frames[i]),
                         i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
            }
        };
        send({"", "12345678"});
        send({"", "12345678", payload("7", 1), "more"});
        send(std::vector<std::string>(40, "x"));
        send({"", "12345678", "not msgpack"});
        send({"", "12345678", payload("", 2)});
        send({"", "odd", payload("7", 3)});
        rig.until([&] { return rig.counts.received == 6; });
        CHECK(rig.seen.reports.size() == 1);
        CHECK(rig.counts.refused.at("frame_count") == 3);
        CHECK(rig.counts.refused.at("empty_worker_id") == 1);
        std::uint64_t refused = 0;
        for (const auto& [cause, count] : rig.counts.refused) refused += count;
        CHECK(refused == 5);
    }

    TEST_CASE("engine hop: an engine that goes and comes back is connected again by itself") {
        Rig rig;
        auto engine = rig.publisher();
        const std::string url = engine->endpoint();
        rig.open({{url, Role::decode}});
        rig.until([&] { return rig.seen.links == std::vector<bool>{true}; });
        engine.reset();
        rig.until([&] { return rig.seen.links == std::vector<bool>{true, false}; });
        engine = rig.publisher(url);
        rig.until([&] {
            return rig.seen.links == std::vector<bool>{true, false, true} && engine->subscribers() == 1;
        });
        REQUIRE(engine->send(payload("7", 0)));
        rig.until([&] { return rig.seen.reports.size() == 1; });
    }

    TEST_CASE("engine hop: all addresses that cannot be used are named at once") {
        Rig rig;
        const auto opened =
            EngineHop::open(rig.io, rig.context, {{"nonsense", Role::decode}, {"tcp://", Role::decode}},
                            rig.seen, rig.counts);
        REQUIRE_FALSE(opened.has_value());
        CHECK(opened.error().message.find("nonsense") != std::string::npos);
        CHECK(opened.error().message.find("tcp://'") != std::string::npos);
    }
}
