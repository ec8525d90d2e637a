#include "net/http_server.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <stdexcept>

#include "net/loopback.hpp"

using namespace dynaplan::net;
using namespace dynaplan::net::testing;

namespace {

// "/now" is answered at once, "/later" is kept, "/throw" and "/drop" go wrong.
struct Fixture {
    explicit Fixture(HttpServerOptions options = {})
        : server{loop, std::move(options),
                 [this](HttpRequest request, Reply reply) { handle(std::move(request), std::move(reply)); }} {
        REQUIRE(server.start());
    }

    void handle(HttpRequest request, Reply reply) {
        requests.push_back(request);
        if (request.path == "/throw") throw std::runtime_error{"on purpose"};
        if (request.path == "/drop") return;
        if (request.path == "/later") {
            if (listens) reply.on_gone([this, number = waiting.size()] { gone.push_back(number); });
            waiting.push_back(std::move(reply));
            return;
        }
        reply.answer({200, "text/plain", "answer to " + request.path + " " + request.body});
    }

    std::shared_ptr<RawPeer> connect() { return RawPeer::connect(loop, server.port()); }
    bool until(const std::function<bool()>& condition) { return run_until(loop, condition); }

    asio::io_context loop;
    bool listens = true;
    std::vector<HttpRequest> requests;
    std::deque<Reply> waiting;
    std::vector<std::size_t> gone;
    HttpServer server;
};

std::string get(const std::string& path, const std::string& more = {}) {
    return "GET " + path + " HTTP/1.1\r\nHost: x\r\n" + more + "\r\n";
}

}  // namespace

TEST_CASE("server: one connection carries request after request, also those sent ahead, in their order") {
    Fixture f;
    const auto client = f.connect();
    client->send(get("/1"));
    REQUIRE(f.until([&] { return client->received.ends_with("answer to /1 "); }));
    client->send(get("/2") + "POST /3 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab" + get("/later") +
                 get("/4"));
    REQUIRE(f.until([&] { return f.waiting.size() == 1; }));
    run_ready(f.loop);
    CHECK(f.requests.size() == 4);  // the one behind the waiting one waits as well
    CHECK(f.requests[2].body == "ab");
    CHECK(f.requests[0].peer.starts_with("127.0.0.1:"));
    f.waiting.front().answer({200, "text/plain", "late"});
    REQUIRE(f.until([&] { return client->received.ends_with("answer to /4 "); }));
    const std::string& all = client->received;
    CHECK(count_of(all, "HTTP/1.1 200 OK") == 5);
    CHECK(all.find("/2 ") < all.find("/3 ab"));
    CHECK(all.find("/3 ab") < all.find("late"));
    CHECK(f.server.counts().connections_accepted == 1);
    CHECK(f.server.counts().requests == 5);
    CHECK(f.server.counts().by_status.at(200) == 5);
}

TEST_CASE("server: HEAD gets the head only, HTTP/1.0 and Connection: close get the end") {
    Fixture f;
    const auto head = f.connect();
    head->send("HEAD /x HTTP/1.1\r\nHost: x\r\n\r\n" + get("/y"));
    REQUIRE(f.until([&] { return head->received.ends_with("answer to /y "); }));
    CHECK(head->received.find("Content-Length: 13") != std::string::npos);
    CHECK(head->received.find("answer to /x") == std::string::npos);
    for (const std::string& text :
         {std::string{"GET /x HTTP/1.0\r\n\r\n"}, get("/x", "Connection: close\r\n")}) {
        const auto client = f.connect();
        client->send(text);
        REQUIRE(f.until([&] { return client->ended; }));
        CHECK(client->received.ends_with("answer to /x "));
    }
}

TEST_CASE("server: a client that closes its sending half gets its answer") {
    Fixture f;
    f.listens = false;
    const auto client = f.connect();
    client->send(get("/later"));
    REQUIRE(f.until([&] { return f.waiting.size() == 1; }));
    client->close_sending();
    run_ready(f.loop);
    f.waiting.front().answer({200, "text/plain", "late"});
    REQUIRE(f.until([&] { return client->ended; }));
    CHECK(client->received.ends_with("late"));
}

TEST_CASE("server: a long poll hears at once that its client hung up, and may answer without harm") {
    Fixture f;
    for (const bool abruptly : {false, true}) {
        const std::size_t number = f.waiting.size();
        const auto client = f.connect();
        client->send(get("/later") + get("/ahead"));
        REQUIRE(f.until([&] { return f.waiting.size() == number + 1; }));
        CHECK(f.server.counts().connections_open == 1);
        if (abruptly) {
            client->reset();
        } else {
            client->hang_up();
        }
        REQUIRE(f.until([&] { return f.gone.size() == number + 1; }));
        CHECK(f.server.counts().connections_open == 0);
        f.waiting.back().answer({200, "text/plain", "to nobody"});
    }
    CHECK(f.server.counts().clients_gone == 2);
    CHECK(f.server.counts().by_status.empty());
}

TEST_CASE("server: who is told of the hang-up may drop the reply, or destroy the server") {
    asio::io_context loop;
    std::optional<Reply> kept;
    std::unique_ptr<HttpServer> server;
    bool destroys = false;
    server = std::make_unique<HttpServer>(loop, HttpServerOptions{}, [&](const HttpRequest&, Reply reply) {
        reply.on_gone([&] {
            kept.reset();
            if (destroys) server.reset();
        });
        kept.emplace(std::move(reply));
    });
    REQUIRE(server->start());
    for (const bool last : {false, true}) {
        destroys = last;
        const auto client = RawPeer::connect(loop, server->port());
        client->send(get("/"));
        REQUIRE(run_until(loop, [&] { return kept.has_value(); }));
        client->hang_up();
        REQUIRE(run_until(loop, [&] { return !kept.has_value(); }));
    }
    CHECK(server == nullptr);
    run_ready(loop);
}

TEST_CASE("server: a handler that throws, or drops its reply, answers 500 and the connection lives on") {
    Fixture f;
    const auto client = f.connect();
    client->send(get("/throw") + get("/drop") + get("/x"));
    REQUIRE(f.until([&] { return client->received.ends_with("answer to /x "); }));
    CHECK(count_of(client->received, "HTTP/1.1 500 ") == 2);
    CHECK(client->received.find("{\"error\":") != std::string::npos);
    CHECK(client->received.find("on purpose") == std::string::npos);
    CHECK(f.server.counts().handlers_threw == 1);
}

TEST_CASE("server: 100 Continue comes before the body, and the answer after it") {
    Fixture f;
    const auto client = f.connect();
    client->send("POST /x HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    REQUIRE(f.until([&] { return client->received == "HTTP/1.1 100 Continue\r\n\r\n"; }));
    client->send("ab");
    REQUIRE(f.until([&] { return client->received.ends_with("answer to /x ab"); }));
}

TEST_CASE("server: requests over the rate get 429 with Retry-After") {
    HttpServerOptions options;
    options.requests_per_second = 1e-6;
    options.requests_burst = 2;
    Fixture f{options};
    const auto client = f.connect();
    client->send(get("/1") + get("/2") + get("/3"));
    REQUIRE(f.until([&] { return count_of(client->received, "HTTP/1.1 ") == 3; }));
    CHECK(count_of(client->received, "HTTP/1.1 429 ") == 1);
    CHECK(client->received.find("Retry-After: 1") != std::string::npos);
    CHECK(f.requests.size() == 2);
}

TEST_CASE("server: a port in use is told with setting, address and remedy") {
    Fixture f;
    HttpServerOptions options;
    options.port = f.server.port();
    HttpServer second{f.loop, options, [](const HttpRequest&, Reply) {}};
    const auto started = second.start();
    REQUIRE(!started);
    const std::string& message = started.error().message;
    CHECK(message.find("http.listen 127.0.0.1:" + std::to_string(options.port)) != std::string::npos);
    CHECK(message.find("in use") != std::string::npos);
    CHECK(message.find("another port") != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
    for (const char* host : {"203.0.113.7", "no.such.host", "300.1.1.1"}) {
        HttpServerOptions elsewhere;
        elsewhere.host = host;
        CHECK(!HttpServer{f.loop, elsewhere, [](const HttpRequest&, Reply) {}}.start());
    }
}

TEST_CASE("server: stop refuses new clients, answers those that wait with 503, and ends") {
    Fixture f;
    const auto idle = f.connect();
    const auto poll_1 = f.connect();
    const auto poll_2 = f.connect();
    const auto half = f.connect();
    poll_1->send(get("/later"));
    poll_2->send(get("/later") + get("/ahead"));
    half->send("GET /half HTT");
    REQUIRE(f.until([&] { return f.waiting.size() == 2 && f.server.counts().connections_open == 4; }));
    run_ready(f.loop);
    bool stopped = false;
    const auto begun = std::chrono::steady_clock::now();
    f.server.stop(std::chrono::seconds{5}, [&] { stopped = true; });
    CHECK_FALSE(stopped);
    REQUIRE(f.until([&] { return idle->ended && poll_1->ended && poll_2->ended && half->ended; }));
    CHECK(idle->received.empty());
    CHECK(poll_1->received.starts_with("HTTP/1.1 503 "));
    CHECK(poll_2->received.starts_with("HTTP/1.1 503 "));
    CHECK(count_of(poll_2->received, "HTTP/1.1 ") == 1);
    CHECK(half->received.starts_with("HTTP/1.1 503 "));
    CHECK(f.gone.size() == 2);  // who held the replies knows
    for (const auto& client : {poll_1, poll_2, half}) client->hang_up();
    REQUIRE(f.until([&] { return stopped; }));
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds{4});
    CHECK(f.server.counts().connections_open == 0);
    f.waiting[0].answer({200, "text/plain", "too late"});
    tcp::socket late{f.loop};
    error_code refused;
    late.connect({asio::ip::address_v4::loopback(), f.server.port()}, refused);
    CHECK(refused);
}

TEST_CASE("server: stop ends by force when a client does not take its answer") {
    HttpServerOptions options;
    options.linger_timeout = std::chrono::hours{1};
    Fixture f{options};
    const auto client = f.connect();
    client->send(get("/later"));
    REQUIRE(f.until([&] { return f.waiting.size() == 1; }));
    bool stopped = false;
    f.server.stop(std::chrono::milliseconds{50}, [&] { stopped = true; });
    REQUIRE(f.until([&] { return stopped; }));  // the client never closed
}

TEST_CASE("server: stop without a connection ends as well, and destruction needs no stop") {
    Fixture f;
    bool stopped = false;
    f.server.stop(std::chrono::hours{1}, [&] { stopped = true; });
    REQUIRE(f.until([&] { return stopped; }));

    asio::io_context loop;
    std::optional<Reply> kept;
    std::shared_ptr<RawPeer> client;
    {
        HttpServer server{loop, {}, [&](const HttpRequest&, Reply reply) { kept.emplace(std::move(reply)); }};
        REQUIRE(server.start());
        client = RawPeer::connect(loop, server.port());
        client->send(get("/"));
        REQUIRE(run_until(loop, [&] { return kept.has_value(); }));
    }
    REQUIRE(run_until(loop, [&] { return client->ended; }));
    kept->answer({200, "", ""});
}
