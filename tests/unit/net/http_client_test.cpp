#include "net/http_client.hpp"

#include <doctest/doctest.h>

#include <deque>

#include "net/http_server.hpp"
#include "net/loopback.hpp"

using namespace dynaplan;
using namespace dynaplan::net;
using namespace dynaplan::net::testing;
using std::chrono::milliseconds;

namespace {

HttpClient client_for(
    asio::io_context& loop, const std::string& url,
    const std::function<void(HttpClientOptions&)>& change = [](HttpClientOptions&) {}) {
    HttpClientOptions options;
    options.base_url = url;
    change(options);
    auto client = HttpClient::create(loop, options);
    REQUIRE(client);
    return std::move(*client);
}

struct Answers {
    HttpClient::Done note() {
        return [this](Result<HttpResponse> answer) { all.push_back(std::move(answer)); };
    }
    std::vector<Result<HttpResponse>> all;
};

struct Fixture {
    Fixture()
        : server{
              loop, {}, [this](HttpRequest request, Reply reply) {
                  requests.push_back(request);
                  if (request.path == "/later") return waiting.push_back(std::move(reply));
                  reply.answer({200, "text/plain", request.method + " " + request.path + " " + request.body});
              }} {
        REQUIRE(server.start());
    }
    [[nodiscard]] std::string url() const { return "http://" + server.address(); }
    bool until(const std::function<bool()>& condition) { return run_until(loop, condition); }

    asio::io_context loop;
    std::vector<HttpRequest> requests;
    std::deque<Reply> waiting;
    HttpServer server;
    Answers answers;
};

ClientRequest get(std::string target) {
    ClientRequest request;
    request.target = std::move(target);
    return request;
}

// The end of each request's head is answered with the next of these.
std::function<void(RawPeer&)> says(std::string answer, bool then_close = false) {
    return [answer = std::move(answer), then_close](RawPeer& peer) {
        if (!peer.received.ends_with("\r\n\r\n")) return;
        peer.send(answer);
        if (then_close) peer.close_sending();
    };
}

constexpr const char* fine = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine";

}  // namespace

TEST_CASE("client: requests one after the other share a connection") {
    Fixture f;
    HttpClient client = client_for(f.loop, f.url() + "/base/", [](HttpClientOptions& o) {
        o.headers = {{"X-Who", "me"}};
    });
    client.set_bearer("t0ken");
    for (std::size_t i = 1; i <= 3; ++i) {
        ClientRequest request = get("/x?a=b");
        request.method = i == 2 ? "POST" : "GET";
        request.body = i == 2 ? "body" : "";
        client.request(request, f.answers.note());
        CHECK(f.answers.all.size() == i - 1);  // never from within the call
        REQUIRE(f.until([&] { return f.answers.all.size() == i; }));
        REQUIRE(f.answers.all.back());
        CHECK(f.answers.all.back()->status == 200);
        CHECK(f.answers.all.back()->content_type == "text/plain");
    }
    CHECK(f.answers.all[1]->body == "POST /base/x body");
    CHECK(f.server.counts().connections_accepted == 1);
    CHECK(f.requests[0].bearer == "t0ken");
    CHECK(*find_header(f.requests[0].headers, "x-who") == "me");
    CHECK(*find_header(f.requests[0].headers, "host") == f.server.address());
    client.set_authorization("plain");
    client.request(get("/"), f.answers.note());
    REQUIRE(f.until([&] { return f.answers.all.size() == 4; }));
    CHECK(*find_header(f.requests[3].headers, "authorization") == "plain");
}

TEST_CASE("client: HEAD, 204 and a refusal are answers like others") {
    Fixture f;
    HttpClient client = client_for(f.loop, f.url());
    ClientRequest head = get("/x");
    head.method = "HEAD";
    client.request(head, f.answers.note());
    client.request(get("/later"), f.answers.note());
    REQUIRE(f.until([&] { return f.waiting.size() == 1 && f.answers.all.size() == 1; }));
    CHECK(f.answers.all[0]->body.empty());
    f.waiting[0].answer({204, "", ""});
    REQUIRE(f.until([&] { return f.answers.all.size() == 2; }));
    CHECK(f.answers.all[1]->status == 204);
}

TEST_CASE("client: more at once open more connections up to the bound, the rest waits its turn") {
    Fixture f;
    HttpClient client = client_for(f.loop, f.url(), [](HttpClientOptions& o) { o.connections_max = 2; });
    for (int i = 0; i < 5; ++i) client.request(get("/later"), f.answers.note());
    for (std::size_t answered = 0; answered < 5; ++answered) {
        REQUIRE(f.until([&] { return f.waiting.size() >= std::min<std::size_t>(5, answered + 2); }));
        run_ready(f.loop);
        CHECK(f.waiting.size() == std::min<std::size_t>(5, answered + 2));
        CHECK(client.connections() == 2);
        f.waiting[answered].answer({200, "text/plain", "x"});
        REQUIRE(f.until([&] { return f.answers.all.size() == answered + 1; }));
    }
    for (const auto& answer : f.answers.all) CHECK(answer);
    CHECK(f.server.counts().connections_accepted == 2);
}

TEST_CASE("client: a full queue refuses at once") {
    Fixture f;
    HttpClient client = client_for(f.loop, f.url(), [](HttpClientOptions& o) {
        o.connections_max = 1;
        o.queue_max = 2;
    });
    client.request(get("/later"), f.answers.note());
    REQUIRE(f.until([&] { return f.waiting.size() == 1; }));
    for (int i = 0; i < 3; ++i) client.request(get("/x"), f.answers.note());
    REQUIRE(f.until([&] { return f.answers.all.size() == 1; }));
    REQUIRE(!f.answers.all[0]);
    CHECK(f.answers.all[0].error().message.find("more than 2 requests") != std::string::npos);
    f.waiting[0].answer({200, "", ""});
    REQUIRE(f.until([&] { return f.answers.all.size() == 4; }));
}

TEST_CASE("client: what would break the protocol is refused before it is sent") {
    Fixture f;
    HttpClient client = client_for(f.loop, f.url());
    ClientRequest request = get("/x");
    request.headers = {{"A", "b\r\nInjected: c"}};
    client.request(request, f.answers.note());
    client.request(get("/a b"), f.answers.note());
    client.request(get("/a\r\nX: y"), f.answers.note());
    client.request(get("x"), f.answers.note());
    client.set_bearer("a\nb");
    client.request(get("/"), f.answers.note());
    REQUIRE(f.until([&] { return f.answers.all.size() == 5; }));
    for (const auto& answer : f.answers.all) CHECK(!answer);
    CHECK(f.requests.empty());
}

TEST_CASE("client: nobody there, nothing in time, an answer that breaks off, too large or not HTTP") {
    asio::io_context loop;
    Answers answers;
    std::uint16_t free_port = 0;
    {
        tcp::acceptor once{loop, {asio::ip::address_v4::loopback(), 0}};
        free_port = once.local_endpoint().port();
    }
    const auto ask = [&](const std::string& url) {
        HttpClient client = client_for(loop, url, [](HttpClientOptions& o) {
            o.request_timeout = milliseconds{100};
            o.response_max = 1000;
        });
        answers.all.clear();
        client.request(get("/x"), answers.note());
        REQUIRE(run_until(loop, [&] { return answers.all.size() == 1; }));
        REQUIRE(!answers.all[0]);
        const std::string message = answers.all[0].error().message;
        CHECK(message.starts_with("GET " + url + "/x: "));
        CHECK(client.connections() == 0);
        return message;
    };
    CHECK(ask("http://127.0.0.1:" + std::to_string(free_port)).find("cannot be reached") !=
          std::string::npos);
    const auto ask_server = [&](std::function<void(RawPeer&)> script) {
        RawServer server{loop, std::move(script)};
        return ask(server.url());
    };
    CHECK(ask_server([](RawPeer&) {}).find("no answer in time") != std::string::npos);
    CHECK(ask_server(says("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab")).find("no answer in time") !=
          std::string::npos);
    CHECK(ask_server(says("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab", true)).find("middle") !=
          std::string::npos);
    CHECK(ask_server(says("", true)).find("before it answered") != std::string::npos);
    CHECK(ask_server(says("SSH-2.0-OpenSSH\r\n")).find("not valid") != std::string::npos);
    CHECK(ask_server(says("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n" + std::string(1001, 'x')))
              .find("larger than 1000") != std::string::npos);
    CHECK(ask_server(says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")).find("not valid") !=
          std::string::npos);
    CHECK(ask_server([](RawPeer& peer) { peer.reset(); }).find("broke") != std::string::npos);
}

TEST_CASE("client: a connection that the server closed in between is replaced") {
    asio::io_context loop;
    Answers answers;
    RawServer server{loop, says(fine)};
    HttpClient client = client_for(loop, server.url());
    client.request(get("/"), answers.note());
    REQUIRE(run_until(loop, [&] { return answers.all.size() == 1; }));
    server.peers[0]->hang_up();
    REQUIRE(run_until(loop, [&] { return client.connections() == 0; }));
    client.request(get("/"), answers.note());
    REQUIRE(run_until(loop, [&] { return answers.all.size() == 2; }));
    CHECK(answers.all[1]);
    CHECK(server.peers.size() == 2);
}

TEST_CASE("client: a request that meets the server's closing is repeated once, if it may be") {
    struct Way {
        const char* method;
        bool repeatable;
        bool repeated;
    };
    for (const Way& way : {Way{"GET", false, true}, Way{"POST", false, false}, Way{"POST", true, true}}) {
        CAPTURE(way.method);
        asio::io_context loop;
        Answers answers;
        int seen = 0;
        // The second request of the first connection meets the closing.
        RawServer server{loop, [&](RawPeer& peer) {
                             if (++seen == 2) return peer.hang_up();
                             peer.send(fine);
                         }};
        HttpClient client = client_for(loop, server.url());
        ClientRequest request = get("/");
        request.method = way.method;
        request.repeatable = way.repeatable;
        client.request(request, answers.note());
        REQUIRE(run_until(loop, [&] { return answers.all.size() == 1; }));
        client.request(request, answers.note());
        REQUIRE(run_until(loop, [&] { return answers.all.size() == 2; }));
        CHECK(answers.all[1].has_value() == way.repeated);
        CHECK(seen == (way.repeated ? 3 : 2));
    }
}

TEST_CASE("client: on a fresh connection a request that breaks is not repeated") {
    asio::io_context loop;
    Answers answers;
    RawServer server{loop, [](RawPeer& peer) { peer.hang_up(); }};
    HttpClient client = client_for(loop, server.url());
    client.request(get("/"), answers.note());
    REQUIRE(run_until(loop, [&] { return answers.all.size() == 1; }));
    CHECK(!answers.all[0]);
    CHECK(server.peers.size() == 1);
}

TEST_CASE("client: cancelled in the queue or on its way, a request is never heard of again") {
    Fixture f;
    HttpClient client = client_for(f.loop, f.url(), [](HttpClientOptions& o) { o.connections_max = 1; });
    const auto on_its_way = client.request(get("/later"), f.answers.note());
    const auto queued = client.request(get("/x"), f.answers.note());
    client.request(get("/last"), f.answers.note());
    REQUIRE(f.until([&] { return f.waiting.size() == 1; }));
    client.cancel(queued);
    client.cancel(on_its_way);
    client.cancel(12345);
    REQUIRE(f.until([&] { return f.answers.all.size() == 1; }));
    CHECK(f.answers.all[0]->body == "GET /last ");
    CHECK(f.requests.size() == 2);
}

TEST_CASE("client: a callback may ask again, or destroy the client") {
    Fixture f;
    auto client = std::make_unique<HttpClient>(client_for(f.loop, f.url()));
    bool gone = false;
    client->request(get("/1"), [&](const Result<HttpResponse>& first) {
        CHECK(first);
        client->request(get("/never"), [](const Result<HttpResponse>&) { FAIL("the client is gone"); });
        client.reset();
        gone = true;
    });
    REQUIRE(f.until([&] { return gone; }));
    run_ready(f.loop);
    CHECK(f.requests.size() == 1);
}

TEST_CASE("client: a base URL or a certificate that cannot be used is told at once") {
    asio::io_context loop;
    HttpClientOptions options;
    options.base_url = "etcd:2379";
    CHECK(!HttpClient::create(loop, options));
    options.base_url = "https://etcd:2379";
    options.tls.certificate_authority = "/nonexistent/ca.pem";
    const auto client = HttpClient::create(loop, options);
    REQUIRE(!client);
    CHECK(client.error().message.find("/nonexistent/ca.pem") != std::string::npos);
    options.tls.certificate_authority.clear();
    options.tls.client_key = "/nonexistent/key.pem";
    CHECK(!HttpClient::create(loop, options));
}

TEST_CASE("client: a name is resolved, and IPv6 works where the machine has it") {
    Fixture f;
    HttpClient client = client_for(f.loop, "http://localhost:" + std::to_string(f.server.port()));
    client.request(get("/"), f.answers.note());
    REQUIRE(f.until([&] { return f.answers.all.size() == 1; }));
    CHECK(f.answers.all[0]);

    HttpServerOptions options;
    options.host = "::1";
    HttpServer server{f.loop, options, [](const HttpRequest& request, Reply reply) {
                          reply.answer({200, "text/plain", *find_header(request.headers, "Host")});
                      }};
    if (!server.start()) {
        MESSAGE("no IPv6 loopback here");
        return;
    }
    HttpClient six = client_for(f.loop, "http://" + server.address());
    six.request(get("/"), f.answers.note());
    REQUIRE(f.until([&] { return f.answers.all.size() == 2; }));
    REQUIRE(f.answers.all[1]);
    CHECK(f.answers.all[1]->body == "[::1]:" + std::to_string(server.port()));
}
