#include "net/request_reader.hpp"

#include <doctest/doctest.h>

using namespace dynaplan::net;
using State = RequestReader::State;

namespace {

// Feeds the text in pieces of a size; the status of the refusal, 0 for a complete request, -1 for neither.
int outcome(std::string_view text, std::size_t piece = 1 << 20, RequestLimits limits = {}) {
    RequestReader reader{limits};
    std::string bytes;
    for (std::size_t at = 0; at < text.size(); at += piece) {
        bytes += text.substr(at, piece);
        const State state = reader.put(bytes);
        if (state == State::complete) return 0;
        if (state == State::bad) return static_cast<int>(reader.refusal().status);
    }
    return -1;
}

HttpRequest read_whole(std::string text) {
    RequestReader reader{{}};
    REQUIRE(reader.put(text) == State::complete);
    return reader.take();
}

constexpr std::string_view host = "Host: x\r\n";

}  // namespace

TEST_CASE("request: method, path, query, headers, body and token, whatever the pieces are") {
    const std::string text =
        "POST /v1/a%2Fb?after=-1&x=%20y#z HTTP/1.1\r\nHost: x\r\nauthorization: bearer  "
        "t0ken\r\nContent-Length: 5\r\n\r\nhello";
    for (std::size_t piece = 1; piece <= text.size(); ++piece) CHECK(outcome(text, piece) == 0);
    const HttpRequest request = read_whole(text);
    CHECK(request.method == "POST");
    CHECK(request.path == "/v1/a%2Fb");
    CHECK(request.query == std::vector<QueryItem>{{"after", "-1"}, {"x", " y"}});
    CHECK(request.body == "hello");
    CHECK(request.bearer == "t0ken");
    CHECK(*find_header(request.headers, "HOST") == "x");
    CHECK(*request.query_value("after") == "-1");
    CHECK(request.query_value("none") == nullptr);
}

TEST_CASE("request: chunked, with extensions and trailers") {
    const std::string text =
        "PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nX: "
        "y\r\n\r\n";
    for (std::size_t piece = 1; piece <= text.size(); ++piece) CHECK(outcome(text, piece) == 0);
    CHECK(read_whole(text).body == "abcde");
}

TEST_CASE("request: what follows it stays for the next reader, and empty lines before it are passed over") {
    std::string bytes = "\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n";
    RequestReader first{{}};
    REQUIRE(first.put(bytes) == State::complete);
    CHECK(first.take().path == "/a");
    RequestReader second{{}};
    REQUIRE(second.put(bytes) == State::complete);
    CHECK(second.take().path == "/b");
    CHECK(bytes.empty());
}

TEST_CASE("request: keep-alive by version and wish") {
    const auto keeps = [](std::string text) {
        RequestReader reader{{}};
        REQUIRE(reader.put(text) == State::complete);
        return reader.keep_alive();
    };
    CHECK(keeps("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    CHECK_FALSE(keeps("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
    CHECK_FALSE(keeps("GET / HTTP/1.0\r\n\r\n"));
    CHECK(keeps("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
}

TEST_CASE("request: a proxy's form of the target") {
    CHECK(read_whole("GET http://x/v1?a=b HTTP/1.1\r\nHost: x\r\n\r\n").path == "/v1");
    CHECK(read_whole("GET http://x HTTP/1.1\r\nHost: x\r\n\r\n").path == "/");
    CHECK(read_whole("GET http://x?a=b HTTP/1.1\r\nHost: x\r\n\r\n").query.size() == 1);
}

TEST_CASE("request: malformed is 400, in one piece and byte by byte") {
    const auto with = [](std::string_view line, std::string_view headers) {
        return std::string{line} + "\r\n" + std::string{headers} + "\r\n";
    };
    for (const std::string& text : {
             std::string{"hello\r\n\r\n"},
             std::string("\x16\x03\x01\x02\x00\x01\x00", 7),  // TLS's hello
             with("GET / HTTP/2.0", host),
             with("GET / HTTP/1.9", host),
             with("G\xc3\xa9T / HTTP/1.1", host),
             with("GET v1 HTTP/1.1", host),
             with("CONNECT x:443 HTTP/1.1", host),
             with("GET /?a=%zz HTTP/1.1", host),
             with("GET / HTTP/1.1", ""),                           // no Host
             with("GET / HTTP/1.1", "Host: x\r\nHost: y\r\n"),     // two
             with("GET / HTTP/1.1", "Host: x\r\nbad header\r\n"),  //
             with("GET / HTTP/1.1", "Host: x\r\nA: b\x01\r\n"),
             with("POST / HTTP/1.1", "Host: x\r\nContent-Length: -1\r\n"),
             with("POST / HTTP/1.1", "Host: x\r\nContent-Length: 1e3\r\n"),
             with("POST / HTTP/1.1", "Host: x\r\nContent-Length: 99999999999999999999\r\n"),
             with("POST / HTTP/1.1", "Host: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n"),
             with("POST / HTTP/1.1", "Host: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n"),
             with("POST / HTTP/1.1", "Host: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n"),
             with("POST / HTTP/1.1", "Host: x\r\nTransfer-Encoding: gzip\r\n"),
             with("POST / HTTP/1.1", "Host: x\r\nExpect: miracles\r\n"),
         }) {
        CAPTURE(text);
        CHECK(outcome(text) == 400);
        CHECK(outcome(text, 1) == 400);
    }
}

TEST_CASE("request: bad chunking is 400") {
    const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (const char* chunks : {"zz\r\n", "\r\n", "-1\r\n", "3\r\nabcd\r\n", "3 x\r\nabc\r\n", "3\r\nabc4\r\n",
                               "fffffffffffffffff\r\n"}) {
        CAPTURE(chunks);
        CHECK(outcome(head + chunks + "more to come") == 400);
        CHECK(outcome(head + chunks + "more to come", 1) == 400);
    }
}

TEST_CASE("request: bodies over the bound are 413, before they are read") {
    const RequestLimits limits{1024, 512, 10};
    CHECK(outcome("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n", 1 << 20, limits) == 413);
    CHECK(outcome("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123456789", 1 << 20, limits) ==
          0);
    const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    CHECK(outcome(head + "ffffffff\r\n", 1 << 20, limits) == 413);
    CHECK(outcome(head + "6\r\nabcdef\r\n6\r\nabcdef\r\n0\r\n\r\n", 1, limits) == 413);
    CHECK(outcome(head + "6\r\nabcdef\r\n4\r\nabcd\r\n0\r\n\r\n", 1, limits) == 0);
}

TEST_CASE("request: a path over the bound is 414, a header over it 431, however it comes") {
    const RequestLimits limits{2048, 256, 1024};
    const std::string long_text(100'000, 'a');
    for (const std::size_t piece :
         {std::size_t{1}, std::size_t{7}, std::size_t{1000}, std::size_t{1} << 20}) {
        CAPTURE(piece);
        CHECK(outcome("GET /" + long_text, piece, limits) == 414);
        CHECK(outcome("GET /" + long_text.substr(0, 300) + " HTTP/1.1\r\nHost: x\r\n\r\n", piece, limits) ==
              414);
        CHECK(outcome("GET / HTTP/1.1\r\nHost: x\r\nA: " + long_text, piece, limits) == 431);
        std::string many = "GET / HTTP/1.1\r\nHost: x\r\n";
        for (int i = 0; i < 1000; ++i) many += "A: b\r\n";
        CHECK(outcome(many, piece, limits) == 431);
        const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
        CHECK(outcome(head + "1;" + long_text, piece, limits) > 0);
        CHECK(outcome(head + "0\r\nA: " + long_text, piece, limits) > 0);
    }
    // Header lines of the parser's own liking, each whole in its piece, are bounded too.
    RequestReader reader{limits};
    std::string bytes = "GET / HTTP/1.1\r\n";
    State state = reader.put(bytes);
    int lines = 0;
    while (state == State::need_more && ++lines < 10'000) {
        bytes += "A: b\r\n";
        state = reader.put(bytes);
    }
    CHECK(state == State::bad);
    CHECK(lines < 1000);
}

TEST_CASE("request: half of one is neither complete nor bad") {
    const std::string text = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello";
    for (std::size_t size = 0; size < text.size(); ++size) CHECK(outcome(text.substr(0, size)) == -1);
}

TEST_CASE("request: 100-continue is wanted once, and only before the body") {
    std::string bytes = "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
    RequestReader reader{{}};
    CHECK(reader.put(bytes) == State::need_more);
    CHECK(reader.wants_continue());
    CHECK_FALSE(reader.wants_continue());
}

TEST_CASE("response: head, body, and no way to add a header line") {
    HttpResponse response{404, "text/plain", "body"};
    response.headers.push_back({"X", "a\r\nInjected: b"});
    const std::string bytes = response_bytes(response, true, false);
    CHECK(bytes.starts_with("HTTP/1.1 404 Not Found\r\n"));
    CHECK(bytes.ends_with("\r\n\r\nbody"));
    CHECK(bytes.find("Content-Length: 4\r\n") != std::string::npos);
    CHECK(bytes.find("Connection: keep-alive\r\n") != std::string::npos);
    CHECK(bytes.find("\nInjected") == std::string::npos);
    const std::string head = response_bytes(response, false, true);
    CHECK(head.find("Content-Length: 4\r\n") != std::string::npos);
    CHECK(head.find("Connection: close\r\n") != std::string::npos);
    CHECK(head.ends_with("\r\n\r\n"));
    const std::string none = response_bytes({204, "", ""}, true, false);
    CHECK(none.find("Content-Length") == std::string::npos);
}
