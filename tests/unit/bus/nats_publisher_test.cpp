// The NATS publisher against a real nats-server.
#include "bus/nats_publisher.hpp"

#include <doctest/doctest.h>

#include "unit/bus/nats_server.hpp"

using namespace dynaplan;
using namespace dynaplan::bus;
using namespace dynaplan::bus::testing;
using wire::Era;

TEST_SUITE("unit") {
    TEST_CASE("nats publisher: a lost connection is reported, with the server's name") {
        const auto program = support::program_or_skip("nats-server");
        if (!program) return;
        NatsServer server{*program};
        const NatsOptions options{.server = server.address()};
        const auto engine = NatsRig::publisher(options, Era::april, decode_scope);
        NatsRig::send(*engine, payload("7", 0));
        server.process().kill();
        const auto flushed = engine->flush();
        REQUIRE_FALSE(flushed.has_value());
        CHECK_MESSAGE(flushed.error().message.find(server.address()) != std::string::npos,
                      flushed.error().message);
        CHECK_FALSE(engine->send(payload("7", 1), 1).has_value());
    }

    TEST_CASE("nats publisher: no server, wrong login and bad subjects are told apart") {
        const auto program = support::program_or_skip("nats-server");
        if (!program) return;
        NatsServer server{*program, "authorization { user: a, password: b }\n"};
        const auto message = [](const NatsOptions& options, const std::string& subject) {
            const auto made = NatsPublisher::connect(options, subject, 1);
            return made ? std::string{} : made.error().message;
        };
        const NatsOptions right{.server = server.address(), .login = {.user = "a", .password = "b"}};
        CHECK(message(right, "a.b").empty());
        CHECK(message(right, "a.b c").find("blank") != std::string::npos);
        CHECK(message(right, "a.b\nPUB x 0").find("blank") != std::string::npos);
        const std::string login = message({.server = server.address()}, "a.b");
        CHECK_MESSAGE(login.find("uthorization") != std::string::npos, login);
        server.process().terminate();
        const std::string nobody = message(right, "a.b");
        CHECK_MESSAGE(nobody.find(server.address()) != std::string::npos, nobody);
    }

    TEST_CASE("nats publisher: what the server does not let it publish is told by flush") {
        const auto program = support::program_or_skip("nats-server");
        if (!program) return;
        NatsServer server{*program,
                          "authorization { users: [ { user: user, password: user, permissions: { publish: { "
                          "deny: [\">\"] } } } ] }\n"};
        const auto engine = NatsRig::publisher({.server = server.address()}, Era::april, decode_scope);
        REQUIRE(engine->send(payload("7", 0), 1).has_value());
        const auto flushed = engine->flush();
        REQUIRE_FALSE(flushed.has_value());
        CHECK_MESSAGE(flushed.error().message.find("Permitted") != std::string::npos,
                      flushed.error().message);
    }
}
