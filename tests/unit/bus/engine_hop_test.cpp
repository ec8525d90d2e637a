// Real sockets over tcp on the loopback.
#include "bus/engine_hop.hpp"

#include <limits>

#include <doctest/doctest.h>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include "bus/zmq_publisher.hpp"
#include "unit/bus/rig.hpp"

using namespace dynaplan;
using namespace dynaplan::bus;
using testing::payload;

namespace {

struct Rig : testing::Rig {
    void open(const std::vector<HopEndpoint>& endpoints) {
        auto opened = EngineHop::open(io, context, endpoints, seen, counts);
        REQUIRE(opened.has_value());
        hop = std::move(*opened);
    }
    std::unique_ptr<ZmqPublisher> publisher(const std::string& url = "tcp://127.0.0.1:*") {
        auto bound = ZmqPublisher::bind(context, url, false);
        REQUIRE_MESSAGE(bound.has_value(), bound.error().message);
        return std::move(*bound);
    }
    std::unique_ptr<EngineHop> hop;
};

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
        testing::RawPublisher raw{rig.context};
        rig.open({{raw.endpoint(), Role::decode}});
        rig.until([&] { return raw.subscriptions() == 1; });
        const auto send = [&](const std::vector<std::string>& frames) { raw.send(frames); };
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
        CHECK(rig.refused() == 5);
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

    TEST_CASE("engine hop: an engine at an IPv6 address is heard") {
        Rig rig;
        // A machine without IPv6 cannot try it.
        auto bound = ZmqPublisher::bind(rig.context, "tcp://[::1]:*", false);
        if (!bound) {
            MESSAGE("no IPv6 here: " << bound.error().message);
            return;
        }
        rig.open({{(*bound)->endpoint(), Role::decode}});
        rig.until([&] { return (*bound)->subscribers() == 1; });
        REQUIRE((*bound)->send(payload("7", 0)));
        rig.until([&] { return rig.seen.reports.size() == 1; });
    }

    TEST_CASE("engine hop: counters at the end of their range are no overflow") {
        Rig rig;
        testing::RawPublisher raw{rig.context};
        rig.open({{raw.endpoint(), Role::decode}});
        rig.until([&] { return raw.subscriptions() == 1; });
        constexpr auto largest = std::numeric_limits<std::int64_t>::max();
        for (const std::int64_t counter : {largest, largest, std::int64_t{0}, std::int64_t{2}}) {
            raw.send(std::vector<std::string>{"", "12345678", payload("7", counter)});
        }
        rig.until([&] { return rig.seen.reports.size() == 4; });
        CHECK(rig.counts.gaps == 1);
    }

    TEST_CASE("engine hop: a worker id that nobody would give is refused, so that it need not be kept") {
        Rig rig;
        testing::RawPublisher raw{rig.context};
        rig.open({{raw.endpoint(), Role::decode}});
        rig.until([&] { return raw.subscriptions() == 1; });
        raw.send(std::vector<std::string>{"", "12345678", payload(std::string(257, '7'), 0)});
        raw.send(std::vector<std::string>{"", "12345678", payload(std::string(256, '7'), 0)});
        rig.until([&] { return rig.counts.received == 2; });
        CHECK(rig.refused("worker_id_length") == 1);
        CHECK(rig.seen.reports.size() == 1);
    }

    TEST_CASE("engine hop: a message without measure costs its connection, not the memory") {
        Rig rig;
        testing::RawPublisher raw{rig.context};
        rig.open({{raw.endpoint(), Role::decode}});
        rig.until([&] { return raw.subscriptions() == 1; });
        raw.send(std::vector<std::string>{"", "12345678", std::string(std::size_t{2} << 20, 'x')});
        rig.until([&] { return raw.subscriptions() == 2; });
        raw.send(std::vector<std::string>{"", "12345678", payload("7", 0)});
        rig.until([&] { return rig.seen.reports.size() == 1; });
        CHECK(rig.counts.received == 1);
        CHECK(rig.seen.links == std::vector<bool>{true, false, true});
    }

    TEST_CASE("engine hop: an address where something else answers first is tried until the engine does") {
        Rig rig;
        namespace asio = boost::asio;
        asio::ip::tcp::acceptor acceptor{rig.io, {asio::ip::address_v4::loopback(), 0}};
        const unsigned short port = acceptor.local_endpoint().port();
        asio::ip::tcp::socket stranger{rig.io};
        const std::string answer = "HTTP/1.1 400 Bad Request\r\n\r\n" + std::string(200, '\xff');
        bool answered = false;
        acceptor.async_accept(stranger, [&](const boost::system::error_code& error) {
            REQUIRE(!error);
            asio::write(stranger, asio::buffer(answer));
            answered = true;
        });
        const std::string url = "tcp://127.0.0.1:" + std::to_string(port);
        rig.open({{url, Role::decode}});
        rig.until([&] { return answered; });
        acceptor.close();
        stranger.close();
        const auto engine = rig.publisher(url);
        rig.until([&] { return engine->subscribers() == 1; });
        REQUIRE(engine->send(payload("7", 0)));
        rig.until([&] { return rig.seen.reports.size() == 1; });
    }

    TEST_CASE("engine hop: a context that ends under it ends the connection, and nothing else") {
        Rig rig;
        auto context = std::make_unique<zmq::context_t>(1);
        testing::RawPublisher raw{rig.context};
        auto hop = EngineHop::open(rig.io, *context, {{raw.endpoint(), Role::decode}}, rig.seen, rig.counts);
        REQUIRE(hop.has_value());
        rig.until([&] { return rig.counts.connected; });
        context->shutdown();
        rig.until([&] { return !rig.counts.connected; });
        CHECK(rig.seen.links == std::vector<bool>{true, false});
    }

    TEST_CASE("publisher: knows each of its readers") {
        Rig rig;
        const auto engine = rig.publisher();
        rig.open({{engine->endpoint(), Role::decode}});
        rig.until([&] { return engine->subscribers() == 1; });
        auto second =
            EngineHop::open(rig.io, rig.context, {{engine->endpoint(), Role::decode}}, rig.seen, rig.counts);
        REQUIRE(second.has_value());
        rig.until([&] { return engine->subscribers() == 2; });
        second->reset();
        rig.until([&] { return engine->subscribers() == 1; });
    }

    TEST_CASE("engine hop: all addresses that cannot be used are named at once") {
        Rig rig;
        const auto opened = EngineHop::open(
            rig.io, rig.context,
            {{"nonsense", Role::decode}, {"tcp://", Role::decode}, {"inproc://x", Role::decode}}, rig.seen,
            rig.counts);
        REQUIRE_FALSE(opened.has_value());
        CHECK(opened.error().message.find("nonsense") != std::string::npos);
        CHECK(opened.error().message.find("tcp://'") != std::string::npos);
        CHECK(opened.error().message.find("inproc://x") != std::string::npos);
    }
}
