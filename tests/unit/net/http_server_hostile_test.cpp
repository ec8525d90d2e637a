// What clients do that mean no good, or do not know better: each is bounded in time and memory, and the next
// client is served.
#include <doctest/doctest.h>

#include "net/http_server.hpp"
#include "net/loopback.hpp"

using namespace dynaplan::net;
using namespace dynaplan::net::testing;
using std::chrono::milliseconds;

namespace {

struct Fixture {
    explicit Fixture(HttpServerOptions options = {}, std::string body = "fine")
        : server{loop, std::move(options), [body = std::move(body)](const HttpRequest&, Reply reply) {
                     reply.answer({200, "text/plain", body});
                 }} {
        REQUIRE(server.start());
    }
    std::shared_ptr<RawPeer> connect() { return RawPeer::connect(loop, server.port()); }
    bool until(const std::function<bool()>& condition) { return run_until(loop, condition); }
    // The next client is served as if nothing had been.
    void check_serving() {
        const auto client = connect();
        client->send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        CHECK(until([&] { return client->received.ends_with("fine"); }));
    }

    asio::io_context loop;
    HttpServer server;
};

HttpServerOptions hasty() {
    HttpServerOptions options;
    options.header_timeout = options.body_timeout = milliseconds{100};
    options.idle_timeout = milliseconds{100};
    options.linger_timeout = milliseconds{100};
    return options;
}

}  // namespace

TEST_CASE("hostile: what is not HTTP is answered once and closed") {
    Fixture f;
    struct Sent {
        std::string bytes;
        std::string status;
    };
    const std::string head = "POST / HTTP/1.1\r\nHost: x\r\n";
    for (const Sent& sent : std::vector<Sent>{
             {std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11), "400"},
             {"\r\n\r\n\r\nhello\r\n\r\n", "400"},
             {head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", "400"},
             {head + "Content-Length: 2000000\r\n\r\n" + std::string(300'000, 'x'), "413"},
             {head + "A: " + std::string(100'000, 'a'), "431"},
             {"GET /" + std::string(100'000, 'a'), "414"},
         }) {
        const auto client = f.connect();
        client->send(sent.bytes);
        REQUIRE(f.until([&] { return client->ended; }));
        CHECK(client->received.starts_with("HTTP/1.1 " + sent.status));
        CHECK(client->received.find("{\"error\":") != std::string::npos);
        CHECK(count_of(client->received, "HTTP/1.1 4") == 1);
        f.check_serving();
    }
    CHECK(f.server.counts().by_status.at(400) == 3);
}

TEST_CASE("hostile: half a request that never ends gets 408, in the header and in the body") {
    Fixture f{hasty()};
    for (const char* text : {"G", "GET / HTTP/1.1\r\nHost: x\r\n",
                             "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nab"}) {
        const auto client = f.connect();
        client->send(text);
        REQUIRE(f.until([&] { return client->ended; }));
        CHECK(client->received.starts_with("HTTP/1.1 408"));
    }
    CHECK(f.server.counts().timeouts == 3);
    f.check_serving();
}

TEST_CASE("hostile: a header that comes byte by byte has no more time than one that does not come") {
    Fixture f{hasty()};
    const auto client = f.connect();
    asio::steady_timer drip{f.loop};
    std::function<void()> next = [&] {
        client->send("a");
        drip.expires_after(milliseconds{5});
        drip.async_wait([&](error_code error) {
            if (!error && !client->ended) next();
        });
    };
    client->send("GET /");
    next();
    REQUIRE(f.until([&] { return client->ended; }));
    CHECK(client->received.starts_with("HTTP/1.1 408"));
}

TEST_CASE("hostile: a connection without a request is closed in silence") {
    Fixture f{hasty()};
    const auto fresh = f.connect();
    const auto used = f.connect();
    used->send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    REQUIRE(f.until([&] { return fresh->ended && used->ended; }));
    CHECK(fresh->received.empty());
    CHECK(count_of(used->received, "HTTP/1.1 ") == 1);
    CHECK(f.server.counts().timeouts == 0);
}

TEST_CASE("hostile: half a request and a hang-up leaves nothing behind") {
    Fixture f;
    for (const bool abruptly : {false, true}) {
        const auto client = f.connect();
        client->send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nab");
        REQUIRE(f.until([&] { return f.server.counts().connections_open == 1; }));
        run_ready(f.loop);
        if (abruptly) {
            client->reset();
        } else {
            client->hang_up();
        }
        REQUIRE(f.until([&] { return f.server.counts().connections_open == 0; }));
    }
    f.check_serving();
}

TEST_CASE("hostile: a thousand connections over the bound are refused with 503, those inside are served") {
    HttpServerOptions options;
    options.connections_max = 8;
    Fixture f{options};
    std::vector<std::shared_ptr<RawPeer>> inside;
    for (int i = 0; i < 8; ++i) inside.push_back(f.connect());
    REQUIRE(f.until([&] { return f.server.counts().connections_open == 8; }));
    std::size_t answered = 0;
    for (int i = 0; i < 1000; ++i) {
        const auto client = f.connect();
        client->send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        REQUIRE(f.until([&] { return client->ended; }));
        answered += client->received.starts_with("HTTP/1.1 503") ? 1 : 0;
    }
    CHECK(answered == 1000);
    CHECK(f.server.counts().connections_refused == 1000);
    CHECK(f.server.counts().connections_open == 8);
    for (const auto& client : inside) client->send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    for (const auto& client : inside) CHECK(f.until([&] { return client->received.ends_with("fine"); }));
    inside.front()->hang_up();
    REQUIRE(f.until([&] { return f.server.counts().connections_open == 7; }));
    f.check_serving();
}

TEST_CASE("hostile: a reader that does not read is given up after the write time-out") {
    HttpServerOptions options;
    options.write_timeout = milliseconds{100};
    Fixture f{options, std::string(64U << 20U, 'x')};  // more than any socket buffer holds
    tcp::socket slow{f.loop};
    slow.connect({asio::ip::address_v4::loopback(), f.server.port()});
    asio::write(slow, asio::buffer(std::string{"GET / HTTP/1.1\r\nHost: x\r\n\r\n"}));
    REQUIRE(f.until([&] { return f.server.counts().timeouts == 1; }));
    CHECK(f.server.counts().connections_open == 0);
}

TEST_CASE("hostile: what is sent ahead without end is not read without end") {
    asio::io_context loop;
    std::vector<Reply> waiting;
    HttpServer server{
        loop, {}, [&](const HttpRequest&, Reply reply) { waiting.push_back(std::move(reply)); }};
    REQUIRE(server.start());
    const auto client = RawPeer::connect(loop, server.port());
    const std::string request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    std::string flood;
    while (flood.size() < (std::size_t{32} << 20U)) flood += request;
    bool sent = false;
    asio::async_write(client->socket(), asio::buffer(flood), [&](error_code, std::size_t) { sent = true; });
    REQUIRE(run_until(loop, [&] { return waiting.size() == 1; }));
    run_ready(loop);
    CHECK_FALSE(sent);  // the rest waits with the client
    CHECK(waiting.size() == 1);
    for (std::size_t i = 0; i < 100; ++i) {
        waiting.back().answer({204, "", ""});
        REQUIRE(run_until(loop, [&] { return waiting.size() == i + 2; }));
    }
    client->hang_up();
}

TEST_CASE("hostile: thousands of requests in one go are answered one by one without a growing stack") {
    HttpServerOptions options;
    options.requests_per_second = 0;
    Fixture f{options};
    const auto client = f.connect();
    std::string many;
    for (int i = 0; i < 5000; ++i) many += "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    client->send(many);
    REQUIRE(f.until([&] { return f.server.counts().requests == 5000; }));
    REQUIRE(f.until([&] { return count_of(client->received, "fine") == 5000; }));
}
