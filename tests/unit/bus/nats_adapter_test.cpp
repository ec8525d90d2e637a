// The NATS adapter against a real nats-server.
#include "bus/nats_adapter.hpp"

#include <csignal>

#include <doctest/doctest.h>
#include <nats/nats.h>
#include <boost/asio/ip/tcp.hpp>

#include "bus/nats_key.hpp"
#include "unit/bus/nats_server.hpp"

using namespace dynaplan;
using namespace dynaplan::bus;
using namespace dynaplan::bus::testing;
using wire::Era;

namespace {

// Any bytes on any subject.
class RawNats {
public:
    explicit RawNats(const std::string& address) {
        REQUIRE(natsConnection_ConnectTo(&connection_, address.c_str()) == NATS_OK);
    }
    ~RawNats() { natsConnection_Destroy(connection_); }
    RawNats(const RawNats&) = delete;
    RawNats& operator=(const RawNats&) = delete;
    void send(const std::string& subject, const std::string& bytes) {
        REQUIRE(natsConnection_Publish(connection_, subject.c_str(), bytes.data(),
                                       static_cast<int>(bytes.size())) == NATS_OK);
    }
    void flush() { REQUIRE(natsConnection_FlushTimeout(connection_, 5000) == NATS_OK); }

private:
    natsConnection* connection_ = nullptr;
};

std::string envelope(const std::string& bytes, std::string_view topic = wire::fpm_topic) {
    std::string out;
    wire::encode_envelope({77, 0, 1, topic, bytes}, out);
    return out;
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("nats: both eras' subjects of each endpoint, and nothing else") {
        const auto program = support::program_or_skip("nats-server");
        if (!program) return;
        NatsServer server{*program};
        NatsRig rig;
        const NatsOptions options{.server = server.address()};
        rig.open(options);
        CHECK(rig.adapter->subjects().size() == 4);
        CHECK(rig.adapter->warnings().empty());
        rig.until([&] { return rig.counts.connected; });
        CHECK(rig.counts.trouble.empty());
        for (const auto era : {Era::april, Era::august}) {
            for (const auto& scope :
                 {prefill_scope, decode_scope, wire::EventScope{"dynamo", "other", "generate"}}) {
                NatsRig::send(*NatsRig::publisher(options, era, scope), payload("7", 0));
            }
        }
        rig.until([&] { return rig.seen.reports.size() == 4; });
        int of_prefill = 0;
        for (const auto& report : rig.seen.reports) of_prefill += report.role == Role::prefill ? 1 : 0;
        CHECK(of_prefill == 2);
        CHECK(rig.counts.received == 4);
        CHECK(rig.seen.links == std::vector<bool>{true});
    }

    TEST_CASE("nats: a stream arrives whole and in order") {
        const auto program = support::program_or_skip("nats-server");
        if (!program) return;
        NatsServer server{*program};
        NatsRig rig;
        const NatsOptions options{.server = server.address()};
        rig.open(options);
        rig.until([&] { return rig.counts.connected; });
        const auto engine = NatsRig::publisher(options, Era::august, decode_scope);
        constexpr int n = 20'000;
        for (int i = 0; i < n; ++i) {
            REQUIRE(engine->send(payload("7", i < 10 ? i : i + 3), 1).has_value());
            if (i % 1000 == 0) rig.settle();
        }
        REQUIRE(engine->flush().has_value());
        rig.until([&] { return rig.seen.reports.size() == n; });
        CHECK(rig.counts.gaps == 3);
        CHECK(rig.refused() == 0);
    }

    TEST_CASE("nats: what cannot be used is counted by cause") {
        const auto program = support::program_or_skip("nats-server");
        if (!program) return;
        NatsServer server{*program};
        const Directory directory;
        NatsRig rig;
        rig.open(NatsOptions{.server = server.address()}, &directory);
        rig.until([&] { return rig.counts.connected; });
        RawNats raw{server.address()};
        const std::string subject = rig.adapter->subjects().front();
        raw.send(subject, "");
        raw.send(subject, "\x80");
        raw.send(subject, "\xc1");
        raw.send(subject, envelope(payload("1", 0), "kv-events"));
        raw.send(subject, envelope("not msgpack"));
        raw.send(subject, envelope(payload("9", 0)));
        raw.send(subject, envelope(payload("2", 0)));
        raw.flush();
        rig.until([&] { return rig.counts.received == 7; });
        REQUIRE(rig.seen.reports.size() == 1);
        CHECK(rig.seen.reports[0].role == Role::decode);  // the directory's word, not the subject's
        CHECK(rig.refused("envelope_truncated") == 1);
        CHECK(rig.refused("envelope_missing_field") == 1);
        CHECK(rig.refused("envelope_reserved_byte") == 1);
        CHECK(rig.refused("other_topic") == 1);
        CHECK(rig.refused("unknown_worker") == 1);
        CHECK(rig.refused() == 6);
    }

    TEST_CASE("nats: a server that is not there yet is waited for, and the wait is visible") {
        const auto program = support::program_or_skip("nats-server");
        if (!program) return;
        NatsServer server{*program};
        const std::string address = server.address();
        server.process().terminate();
        NatsRig rig;
        rig.open(NatsOptions{.server = address});
        rig.until([&] { return rig.errors("connect") >= 2; });
        CHECK(rig.seen.links == std::vector<bool>{false});
        CHECK_FALSE(rig.counts.connected);
        CHECK(rig.troubled_by(address));
        CHECK(rig.troubled_by("trying again"));
        server.process().start_again();
        rig.until([&] { return rig.counts.connected; });
        CHECK(rig.seen.links == std::vector<bool>{false, true});
        CHECK(rig.counts.trouble.empty());
    }

    TEST_CASE("nats: a server that is stopped and started again is found again by itself") {
        const auto program = support::program_or_skip("nats-server");
        if (!program) return;
        NatsServer server{*program};
        const NatsOptions options{.server = server.address()};
        NatsRig rig;
        rig.open(options);
        rig.until([&] { return rig.counts.connected; });
        NatsRig::send(*NatsRig::publisher(options, Era::april, decode_scope), payload("7", 0));
        rig.until([&] { return rig.seen.reports.size() == 1; });
        for (const bool gently : {true, false}) {
            const std::size_t before = rig.seen.reports.size();
            if (gently) {
                server.process().terminate();
            } else {
                server.process().kill();
            }
            rig.until([&] { return !rig.counts.connected; });
            CHECK(rig.troubled_by("trying again"));
            server.process().start_again();
            rig.until([&] { return rig.counts.connected; });
            NatsRig::send(*NatsRig::publisher(options, Era::august, prefill_scope), payload("7", 1));
            rig.until([&] { return rig.seen.reports.size() == before + 1; });
        }
        CHECK(rig.seen.links == std::vector<bool>{true, false, true, false, true});
        CHECK(rig.counts.links_up == 3);
        CHECK(rig.counts.links_down == 2);
        CHECK(rig.errors("connection_lost") == 2);
    }

    TEST_CASE("nats: a server that hangs is noticed, and so is its return") {
        const auto program = support::program_or_skip("nats-server");
        if (!program) return;
        NatsServer server{*program};
        NatsRig rig;
        rig.open(NatsOptions{.server = server.address()});
        rig.until([&] { return rig.counts.connected; });
        server.process().send(SIGSTOP);
        rig.until([&] { return !rig.counts.connected; });
        server.process().send(SIGCONT);
        rig.until([&] { return rig.counts.connected; });
        CHECK(rig.seen.links == std::vector<bool>{true, false, true});
    }

    TEST_CASE("nats: a wrong password gives a clear reason, and the attempts go on") {
        const auto program = support::program_or_skip("nats-server");
        if (!program) return;
        NatsServer server{*program, "authorization { user: planner, password: right }\n"};
        NatsRig rig;
        rig.open(NatsOptions{.server = server.address(),
                             .login = {.user = "planner", .password = "wrong-secret"}});
        rig.until([&] { return rig.errors("login") >= 4; });
        CHECK(rig.seen.links == std::vector<bool>{false});
        CHECK_MESSAGE(rig.troubled_by("uthorization"), rig.counts.trouble);
        CHECK_FALSE(rig.troubled_by("wrong-secret"));
        // The operator changes the server's mind; nobody has to start the planner anew.
        server.process().terminate();
        server.configure("authorization { user: planner, password: \"wrong-secret\" }\n");
        server.process().start_again();
        rig.until([&] { return rig.counts.connected; });
    }

    TEST_CASE("nats: every way of logging in, and the user nobody has to name") {
        const auto program = support::program_or_skip("nats-server");
        if (!program) return;
        // Published; worth nothing.
        const std::string seed = "SUAMK2FG4MI6UE3ACF3FK3OIQBCEIEZV7NSWFFEW63UXMRLFM2XLAXK4GY";
        const std::string key = *nats_public_key(seed);
        const std::vector<std::pair<std::string, NatsLogin>> cases{
            {"authorization { user: user, password: user }\n", {}},
            {"authorization { user: a, password: b }\n", {.user = "a", .password = "b", .token = "t"}},
            {"authorization { token: t }\n", {.user = "a", .token = "t", .nkey_seed = seed}},
            {"authorization { users: [ { nkey: " + key + " } ] }\n", {.password = "b", .nkey_seed = seed}},
        };
        for (const auto& [configuration, login] : cases) {
            NatsServer server{*program, configuration};
            NatsRig rig;
            rig.open(NatsOptions{.server = server.address(), .login = login});
            rig.until([&] { return rig.counts.connected; });
            CHECK(rig.counts.errors.empty());
        }
        NatsServer server{*program};
        NatsRig rig;
        rig.open(
            NatsOptions{.server = server.address(), .login = {.credentials_file = "/nowhere/user.creds"}});
        rig.until([&] { return rig.errors("connect") >= 1; });
        CHECK_MESSAGE(rig.troubled_by("/nowhere/user.creds"), rig.counts.trouble);
    }

    TEST_CASE(
        "nats: a subscription that the server refuses is named, asked for again, and no outage for others") {
        const auto program = support::program_or_skip("nats-server");
        if (!program) return;
        const auto allowing = [](const std::string& subjects) {
            return "authorization { users: [ { user: user, password: user, permissions: { subscribe: { "
                   "allow: [" +
                   subjects + "] } } } ] }\n";
        };
        const std::string august = "\"namespace.dynamo.component.*.endpoint.>\"";
        const std::string april = "\"namespace.dynamo.component.*.forward-pass-metrics\"";
        NatsServer server{*program, allowing(august)};
        NatsRig rig;
        rig.open(NatsOptions{.server = server.address()});
        rig.until([&] { return rig.errors("subscription") >= 1; });
        CHECK(rig.counts.connected);  // August's are there for each role
        CHECK_MESSAGE(rig.troubled_by(subject(Era::april, prefill_scope)), rig.counts.trouble);
        CHECK_MESSAGE(rig.troubled_by("ermission"), rig.counts.trouble);
        // The server learns better, with the connection up.
        server.configure(allowing(august + ", " + april));
        server.process().send(SIGHUP);
        rig.until([&] { return rig.counts.connected && rig.counts.trouble.empty(); });
        // A role of which nothing can be heard is an outage.
        server.configure(allowing("\"namespace.dynamo.component.backend.>\""));
        server.process().send(SIGHUP);
        rig.until([&] { return !rig.counts.connected; });
        CHECK_MESSAGE(rig.troubled_by("prefill"), rig.counts.trouble);
    }

    TEST_CASE(
        "nats: names that would change a subject's meaning are refused before anything is subscribed to") {
        NatsRig rig;
        NatsPlane plane;
        for (const std::string name : {"back*", "my backend", ">", "a..b", "tab\t"}) {
            plane.endpoints = {{{"dynamo", name, "generate"}, Role::decode}};
            rig.open(plane);
            REQUIRE(rig.adapter->subjects().size() == 1);  // August encodes them
            CHECK(rig.adapter->subjects()[0].find(".endpoint.") != std::string::npos);
            REQUIRE(rig.adapter->warnings().size() == 1);
            CHECK(rig.adapter->warnings()[0].find(name.substr(0, 3)) != std::string::npos);
        }
        const auto refused = [&](const wire::EventScope& scope) {
            plane.endpoints = {{prefill_scope, Role::prefill}, {scope, Role::decode}};
            return !NatsAdapter::open(rig.io, plane, rig.seen, rig.counts).has_value();
        };
        CHECK(refused({"", "backend", "generate"}));
        CHECK(refused({"dynamo", "", "generate"}));
        CHECK(refused({"dynamo", std::string(4100, 'x'), "generate"}));
        plane.endpoints.clear();
        CHECK_FALSE(NatsAdapter::open(rig.io, plane, rig.seen, rig.counts).has_value());
    }

    TEST_CASE("nats: two roles on one subject leave the role to a directory") {
        const auto program = support::program_or_skip("nats-server");
        if (!program) return;
        NatsServer server{*program};
        NatsRig rig;
        NatsPlane plane;
        plane.connection.server = server.address();
        // April leaves the endpoint out.
        plane.endpoints = {{{"dynamo", "both", "prefill"}, Role::prefill},
                           {{"dynamo", "both", "decode"}, Role::decode}};
        rig.open(plane);
        CHECK(rig.adapter->subjects().size() == 3);
        rig.until([&] { return rig.counts.connected; });
        NatsRig::send(*NatsRig::publisher(plane.connection, Era::april, plane.endpoints[0].scope),
                      payload("7", 0));
        NatsRig::send(*NatsRig::publisher(plane.connection, Era::august, plane.endpoints[1].scope),
                      payload("7", 1));
        rig.until([&] { return rig.counts.received == 2; });
        CHECK(rig.refused("unknown_role") == 1);
        REQUIRE(rig.seen.reports.size() == 1);
        CHECK(rig.seen.reports[0].role == Role::decode);
    }

    TEST_CASE("nats: what a loop that stands still cannot take is counted, and it goes on after that") {
        const auto program = support::program_or_skip("nats-server");
        if (!program) return;
        NatsServer server{*program};
        NatsRig rig;
        NatsPlane plane;
        plane.connection.server = server.address();
        plane.endpoints = {{decode_scope, Role::decode}};
        plane.ring_bytes = 16'384;
        rig.open(plane);
        rig.until([&] { return rig.counts.connected; });
        const auto engine = NatsRig::publisher(plane.connection, Era::april, decode_scope);
        constexpr std::uint64_t n = 2000;
        for (std::uint64_t i = 0; i < n; ++i)
            REQUIRE(engine->send(payload("7", static_cast<std::int64_t>(i)), 1).has_value());
        REQUIRE(engine->flush().has_value());
        // Nothing has run the loop meanwhile. Later ones may still be on their way when it does.
        rig.until([&] { return rig.counts.received + rig.refused("ring_full") == n; });
        CHECK(rig.refused("ring_full") > n / 2);
        CHECK(rig.counts.received > 0);
        NatsRig::send(*engine, payload("7", 5000));
        rig.until(
            [&] { return !rig.seen.reports.empty() && rig.seen.reports.back().fpm.pass.counter_id == 5000; });
        // A message without measure does not get as far as that.
        RawNats raw{server.address()};
        const std::uint64_t before = rig.refused("ring_full");
        raw.send(rig.adapter->subjects()[0], std::string(20'000, 'x'));
        raw.flush();
        rig.until([&] { return rig.refused("ring_full") == before + 1; });
    }

    TEST_CASE("nats: an adapter that ends under load hears nothing after that") {
        const auto program = support::program_or_skip("nats-server");
        if (!program) return;
        NatsServer server{*program};
        const NatsOptions options{.server = server.address()};
        for (int round = 0; round < 5; ++round) {
            NatsRig rig;
            rig.open(options);
            rig.until([&] { return rig.counts.connected; });
            const auto engine = NatsRig::publisher(options, Era::april, decode_scope);
            for (int i = 0; i < 5000; ++i) REQUIRE(engine->send(payload("7", i), 1).has_value());
            rig.until([&] { return !rig.seen.reports.empty(); });
            rig.adapter.reset();
            const std::size_t then = rig.seen.reports.size();
            rig.settle();
            CHECK(rig.seen.reports.size() == then);
        }
    }

    TEST_CASE("nats: an adapter may be ended by what it reports") {
        const auto program = support::program_or_skip("nats-server");
        if (!program) return;
        struct Ender final : port::EventSink {
            void take(Event& event) override {
                if (!std::holds_alternative<FpmArrived>(event.body)) return;
                ++reports;
                adapter.reset();
            }
            std::unique_ptr<NatsAdapter> adapter;
            int reports = 0;
        };
        NatsServer server{*program};
        NatsRig rig;
        Ender ender;
        NatsPlane plane;
        plane.connection.server = server.address();
        plane.endpoints = {{decode_scope, Role::decode}};
        auto opened = NatsAdapter::open(rig.io, plane, ender, rig.counts);
        REQUIRE(opened.has_value());
        ender.adapter = std::move(*opened);
        rig.until([&] { return rig.counts.connected; });
        const auto engine = NatsRig::publisher(plane.connection, Era::april, decode_scope);
        for (int i = 0; i < 10; ++i) REQUIRE(engine->send(payload("7", i), 1).has_value());
        rig.until([&] { return ender.reports > 0; });
        rig.settle();
        CHECK(ender.reports == 1);
    }

    TEST_CASE("nats: an adapter ends soon although the server never answers") {
        NatsRig rig;
        boost::asio::ip::tcp::acceptor silent{rig.io, {boost::asio::ip::address_v4::loopback(), 0}};
        boost::asio::ip::tcp::socket connection{rig.io};
        bool accepted = false;
        silent.async_accept(connection, [&](const boost::system::error_code&) { accepted = true; });
        rig.open(NatsOptions{.server = "nats://127.0.0.1:" + std::to_string(silent.local_endpoint().port())});
        rig.until([&] { return accepted; });
        const auto begun = std::chrono::steady_clock::now();
        rig.adapter.reset();
        CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds{5});
    }
}
