// Broker mode with brokers of the test's own: an XSUB/XPUB proxy is all that one is.
#include "bus/broker_plane.hpp"

#include <thread>

#include <doctest/doctest.h>

#include "bus/event_publisher.hpp"
#include "unit/bus/rig.hpp"
#include "wire/nats_subject.hpp"

using namespace dynaplan;
using namespace dynaplan::bus;
using testing::payload;

namespace {

class Broker {
public:
    explicit Broker(zmq::context_t& context)
        : xsub_{context, zmq::socket_type::xsub},
          xpub_{context, zmq::socket_type::xpub},
          control_{context, zmq::socket_type::pair} {
        for (zmq::socket_t* socket : {&xsub_, &xpub_}) {
            socket->set(zmq::sockopt::linger, 0);
            socket->bind("tcp://127.0.0.1:*");
        }
        xpub_.set(zmq::sockopt::xpub_nodrop, 1);
        xsub_url = xsub_.get(zmq::sockopt::last_endpoint);
        xpub_url = xpub_.get(zmq::sockopt::last_endpoint);
        const std::string address = "inproc://" + xsub_url;
        control_.bind(address);
        thread_ = std::thread{[this, address, &context] {
            zmq::socket_t end{context, zmq::socket_type::pair};
            end.connect(address);
            zmq::proxy_steerable(xsub_, xpub_, zmq::socket_ref{}, end);
        }};
    }
    ~Broker() {
        control_.send(zmq::str_buffer("TERMINATE"), zmq::send_flags::none);
        thread_.join();
    }
    std::string xsub_url;
    std::string xpub_url;

private:
    zmq::socket_t xsub_;
    zmq::socket_t xpub_;
    zmq::socket_t control_;
    std::thread thread_;
};

const wire::EventScope prefill{"my ns", "prefill", "generate"};
const wire::EventScope decode{"my ns", "backend", "generate"};

std::string august_key(const wire::EventScope& scope) {
    return wire::zmq_routing_key(wire::ZmqMode::broker, wire::Era::august, scope, wire::fpm_topic);
}

struct Rig : testing::Rig {
    void open(const std::vector<std::string>& xpub_urls, const port::WorkerDirectory* directory = nullptr,
              bool drop_repeats = true) {
        BrokerOptions options{xpub_urls, {{prefill, Role::prefill}, {decode, Role::decode}}, drop_repeats};
        auto opened = BrokerPlane::open(io, context, options, seen, counts, directory);
        REQUIRE(opened.has_value());
        plane = std::move(*opened);
    }
    std::unique_ptr<EventPublisher> publisher(const std::vector<std::string>& xsub_urls,
                                              const std::string& routing_key = {}, std::uint64_t id = 5) {
        auto connected = EventPublisher::connect(
            context, xsub_urls, {.publisher_id = id, .routing_key = routing_key, .drops = false});
        REQUIRE(connected.has_value());
        return std::move(*connected);
    }
    std::unique_ptr<BrokerPlane> plane;
};

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("broker plane: August's subject tells the role, April's bare topic needs a directory") {
        const testing::Directory directory;
        for (const bool knows_workers : {false, true}) {
            Rig rig;
            Broker broker{rig.context};
            rig.open({broker.xpub_url}, knows_workers ? &directory : nullptr);
            const auto august = rig.publisher({broker.xsub_url}, august_key(prefill));
            const auto elsewhere =
                rig.publisher({broker.xsub_url}, august_key({"my ns", "backend", "other"}), 6);
            const auto april = rig.publisher({broker.xsub_url}, {}, 7);
            // The bare topic and two subjects.
            rig.until([&] {
                return august->subscribers() == 3 && april->subscribers() == 3 &&
                       elsewhere->subscribers() == 3;
            });
            REQUIRE(elsewhere->send(payload("1", 7), 1));
            REQUIRE(august->send(payload("1", 0), 1));
            REQUIRE(april->send(payload("2", 0), 1));
            REQUIRE(april->send(payload("3", 0), 1));
            rig.until([&] { return rig.counts.received == 3; });
            CHECK(rig.counts.identity_mismatch == 0);
            if (knows_workers) {
                REQUIRE(rig.seen.reports.size() == 2);
                CHECK(rig.refused("unknown_worker") == 1);
            } else {
                REQUIRE(rig.seen.reports.size() == 1);
                CHECK(rig.seen.reports[0].role == Role::prefill);
                CHECK(rig.refused("unknown_role") == 2);
            }
        }
    }

    TEST_CASE("broker plane: what comes over two brokers is taken once") {
        Rig rig;
        Broker one{rig.context};
        Broker two{rig.context};
        rig.open({one.xpub_url, two.xpub_url});
        const auto engine = rig.publisher({one.xsub_url, two.xsub_url}, august_key(decode));
        rig.until([&] { return engine->subscribers() == 6; });
        constexpr int n = 500;
        for (int i = 0; i < n; ++i) REQUIRE(engine->send(payload("7", i), 1));
        rig.until([&] { return rig.counts.received == 2 * n; });
        CHECK(rig.seen.reports.size() == n);
        CHECK(rig.refused("repeated") == n);
        CHECK(rig.seen.links == std::vector<bool>{true});
        CHECK(rig.counts.links_up == 2);
    }

    TEST_CASE("broker plane: repeats are kept where that is asked for") {
        Rig rig;
        Broker one{rig.context};
        Broker two{rig.context};
        rig.open({one.xpub_url, two.xpub_url}, nullptr, false);
        const auto engine = rig.publisher({one.xsub_url, two.xsub_url}, august_key(decode));
        rig.until([&] { return engine->subscribers() == 6; });
        REQUIRE(engine->send(payload("7", 0), 1));
        rig.until([&] { return rig.seen.reports.size() == 2; });
    }

    TEST_CASE("broker plane: April's ranks share ids and sequence, and none of them is taken for a repeat") {
        RecentMessages recent{3};
        CHECK_FALSE(recent.seen({1, 0, 0, "t", "rank 0"}));
        CHECK_FALSE(recent.seen({1, 0, 0, "t", "rank 1"}));
        CHECK(recent.seen({1, 0, 0, "t", "rank 0"}));
        CHECK_FALSE(recent.seen({1, 1, 0, "t", "rank 0"}));
        CHECK_FALSE(recent.seen({2, 0, 0, "t", "rank 0"}));  // the oldest is forgotten
        CHECK_FALSE(recent.seen({1, 0, 0, "t", "rank 0"}));
        CHECK(recent.seen({2, 0, 0, "t", "rank 0"}));
    }

    TEST_CASE("broker plane: bad addresses are named, and none at all is an error") {
        Rig rig;
        auto opened = BrokerPlane::open(rig.io, rig.context, {{"x", "y"}, {}}, rig.seen, rig.counts);
        REQUIRE_FALSE(opened.has_value());
        CHECK(opened.error().message.find("'x'") != std::string::npos);
        CHECK(opened.error().message.find("'y'") != std::string::npos);
        CHECK_FALSE(BrokerPlane::open(rig.io, rig.context, {{}, {}}, rig.seen, rig.counts).has_value());
    }
}
