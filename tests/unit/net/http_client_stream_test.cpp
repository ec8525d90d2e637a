// Streams: a chunked answer without an end, a line at a time, as etcd's watch sends it.
#include <doctest/doctest.h>

#include "net/http_client.hpp"
#include "net/loopback.hpp"

using namespace dynaplan;
using namespace dynaplan::net;
using namespace dynaplan::net::testing;
using std::chrono::milliseconds;

namespace {

constexpr const char* head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string chunk(const std::string& text) {
    constexpr const char* digits = "0123456789abcdef";
    std::string size;
    for (std::size_t n = text.size(); n > 0; n /= 16) size.insert(size.begin(), digits[n % 16]);
    return (size.empty() ? "0" : size) + "\r\n" + text + "\r\n";
}

struct Fixture {
    explicit Fixture(const std::function<void(HttpClientOptions&)>& change = [](HttpClientOptions&) {})
        : server{loop, [this](RawPeer& peer) {
                     if (on_request) on_request(peer);
                 }} {
        HttpClientOptions options;
        options.base_url = server.url();
        options.request_timeout = milliseconds{500};
        change(options);
        auto made = HttpClient::create(loop, options);
        REQUIRE(made);
        client = std::make_unique<HttpClient>(std::move(*made));
    }

    HttpClient::CallId watch(milliseconds silence_max = milliseconds{0}) {
        ClientRequest request;
        request.method = "POST";
        request.target = "/v3/watch";
        request.body = "{}";
        HttpClient::Stream stream;
        stream.on_open = [this] { ++opened; };
        stream.on_line = [this](std::string_view line) {
            lines.emplace_back(line);
            if (on_line) on_line();
        };
        stream.on_end = [this](Result<HttpResponse> end) { ends.push_back(std::move(end)); };
        stream.silence_max = silence_max;
        return client->stream(request, std::move(stream));
    }
    bool until(const std::function<bool()>& condition) { return run_until(loop, condition); }
    RawPeer& peer() { return *server.peers.at(0); }
    void open() {
        REQUIRE(until([&] { return !server.peers.empty() && peer().received.ends_with("{}"); }));
        peer().send(head);
        REQUIRE(until([&] { return opened == 1; }));
    }

    asio::io_context loop;
    std::function<void(RawPeer&)> on_request;
    std::function<void()> on_line;
    RawServer server;
    std::unique_ptr<HttpClient> client;
    std::vector<std::string> lines;
    std::vector<Result<HttpResponse>> ends;
    int opened = 0;
};

}  // namespace

TEST_CASE("stream: lines come as they end, over chunk borders, and the end is told once") {
    Fixture f;
    f.watch();
    f.open();
    f.peer().send(chunk("one\ntw"));
    REQUIRE(f.until([&] { return f.lines.size() == 1; }));
    f.peer().send(chunk("o\n\nthr"));
    REQUIRE(f.until([&] { return f.lines.size() == 3; }));
    f.peer().send(chunk("ee\n") + chunk("rest") + "0\r\n\r\n");
    REQUIRE(f.until([&] { return f.ends.size() == 1; }));
    CHECK(f.lines == std::vector<std::string>{"one", "two", "", "three", "rest"});
    REQUIRE(f.ends[0]);
    CHECK(f.ends[0]->status == 200);
    CHECK(f.client->connections() == 0);
}

TEST_CASE("stream: outlives the time-out of requests, does not take their connections, and may be silent") {
    Fixture f{[](HttpClientOptions& o) {
        o.connections_max = 1;
        o.request_timeout = milliseconds{100};
    }};
    f.watch();
    f.open();
    int timed_out = 0;
    ClientRequest request;
    for (int i = 0; i < 3; ++i) {
        // Nobody answers: each takes the whole time-out of the one shared connection.
        f.client->request(request, [&](const Result<HttpResponse>& answer) {
            CHECK(!answer);
            ++timed_out;
        });
        REQUIRE(f.until([&] { return timed_out == i + 1; }));
    }
    CHECK(f.ends.empty());
    f.peer().send(chunk("still here\n"));
    CHECK(f.until([&] { return f.lines.size() == 1; }));
}

TEST_CASE("stream: silence ends it where a bound was asked for") {
    Fixture f;
    f.watch(milliseconds{100});
    f.open();
    REQUIRE(f.until([&] { return f.ends.size() == 1; }));
    REQUIRE(!f.ends[0]);
    CHECK(f.ends[0].error().message.find("silent") != std::string::npos);
}

TEST_CASE("stream: a head that does not come is a time-out") {
    Fixture f;
    f.watch();
    REQUIRE(f.until([&] { return f.ends.size() == 1; }));
    CHECK(!f.ends[0]);
    CHECK(f.opened == 0);
}

TEST_CASE("stream: a refusal is its end, with the body") {
    Fixture f;
    f.on_request = [](RawPeer& peer) {
        peer.send("HTTP/1.1 401 Unauthorized\r\nContent-Length: 18\r\n\r\n{\"error\":\"token\"}\n");
    };
    f.watch();
    REQUIRE(f.until([&] { return f.ends.size() == 1; }));
    REQUIRE(f.ends[0]);
    CHECK(f.ends[0]->status == 401);
    CHECK(f.ends[0]->body == "{\"error\":\"token\"}\n");
    CHECK(f.lines.empty());
    CHECK(f.opened == 0);
}

TEST_CASE("stream: broken off, reset, badly chunked or with a line without end, it fails once") {
    const std::vector<std::function<void(RawPeer&)>> ways{
        [](RawPeer& peer) { peer.hang_up(); }, [](RawPeer& peer) { peer.reset(); },
        [](RawPeer& peer) { peer.send("zz\r\n"); },
        [](RawPeer& peer) { peer.send(chunk(std::string(2000, 'x'))); }};
    for (const auto& way : ways) {
        Fixture f{[](HttpClientOptions& o) { o.line_max = 1000; }};
        f.watch();
        f.open();
        f.peer().send(chunk("one\n"));
        REQUIRE(f.until([&] { return f.lines.size() == 1; }));
        way(f.peer());
        REQUIRE(f.until([&] { return f.ends.size() == 1; }));
        CHECK(!f.ends[0]);
        run_ready(f.loop);
        CHECK(f.ends.size() == 1);
        CHECK(f.lines.size() == 1);
    }
}

TEST_CASE("stream: cancelled from within a line, nothing more comes and the server sees the end") {
    Fixture f;
    HttpClient::CallId id = 0;
    f.on_line = [&] { f.client->cancel(id); };
    id = f.watch();
    f.open();
    f.peer().send(chunk("one\ntwo\nthree\n"));
    REQUIRE(f.until([&] { return f.peer().ended; }));
    CHECK(f.lines.size() == 1);
    CHECK(f.ends.empty());
    CHECK(f.client->connections() == 0);
}

TEST_CASE("stream: the client may be destroyed from within a line") {
    Fixture f;
    f.on_line = [&] { f.client.reset(); };
    f.watch();
    f.open();
    f.peer().send(chunk("one\ntwo\n"));
    REQUIRE(f.until([&] { return f.peer().ended; }));
    CHECK(f.lines.size() == 1);
    CHECK(f.ends.empty());
}

TEST_CASE("stream: their number is bounded") {
    Fixture f{[](HttpClientOptions& o) { o.streams_max = 1; }};
    f.watch();
    f.open();
    f.watch();
    REQUIRE(f.until([&] { return f.ends.size() == 1; }));
    REQUIRE(!f.ends[0]);
    CHECK(f.ends[0].error().message.find("more than 1 streams") != std::string::npos);
}
