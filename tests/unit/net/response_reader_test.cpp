#include "net/response_reader.hpp"

#include <doctest/doctest.h>

#include "net/request_reader.hpp"

using namespace dynaplan::net;
using State = ResponseReader::State;

namespace {

struct Read {
    State state = State::need_more;
    unsigned status = 0;
    int heads = 0;
    std::string body;
    std::string rest;
    bool keep_alive = false;
};

Read read(std::string_view text, std::size_t piece = 1 << 20, bool to_head = false, bool end = false) {
    Read out;
    ResponseReader reader{to_head,
                          [&](const HttpResponse& head) {
                              out.status = head.status;
                              ++out.heads;
                          },
                          [&](std::string_view part) { out.body += part; }};
    for (std::size_t at = 0; at < text.size() && out.state == State::need_more; at += piece) {
        out.rest += text.substr(at, piece);
        out.state = reader.put(out.rest);
    }
    if (end && out.state == State::need_more) out.state = reader.put_eof();
    out.keep_alive = reader.keep_alive();
    return out;
}

}  // namespace

TEST_CASE("answer: with a length, chunked, and until the end, whatever the pieces are") {
    const std::string length = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    const std::string chunked =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nhel\r\n2\r\nlo\r\n0\r\nA: b\r\n\r\n";
    const std::string to_the_end = "HTTP/1.1 200 OK\r\n\r\nhello";
    const std::string interim =
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n" + length;
    for (const std::string& text : {length, chunked, to_the_end, interim}) {
        for (std::size_t piece = 1; piece <= text.size(); ++piece) {
            const Read got = read(text, piece, false, true);
            CHECK(got.state == State::complete);
            CHECK(got.heads == 1);
            CHECK(got.status == 200);
            CHECK(got.body == "hello");
            CHECK(got.keep_alive == (text != to_the_end));
        }
    }
}

TEST_CASE("answer: none to HEAD, 204 and 304 has a body") {
    CHECK(read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", 1, true).state == State::complete);
    CHECK(read("HTTP/1.1 204 No Content\r\n\r\n").state == State::complete);
    CHECK(read("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n").state == State::complete);
}

TEST_CASE("answer: one that breaks off is bad") {
    for (const char* text : {"", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
                             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"}) {
        CAPTURE(text);
        CHECK(read(text, 1, false, true).state == State::bad);
    }
}

TEST_CASE("answer: hostile bytes are bad and take no memory that they only announce") {
    const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    const std::string much(200'000, 'a');
    std::string lines = "HTTP/1.1 200 OK\r\n";
    for (int i = 0; i < 20'000; ++i) lines += "A: b\r\n";
    std::string interims;
    for (int i = 0; i < 5'000; ++i) interims += "HTTP/1.1 100 Continue\r\n\r\n";
    for (const std::string& text :
         {std::string{"SSH-2.0-x\r\n\r\n"}, std::string{"HTTP/1.1 abc\r\n\r\n"}, chunked + "zz\r\nmore",
          chunked + "3\r\nabcd\r\nmore", chunked + "1;" + much, chunked + "0\r\nA: " + much,
          "HTTP/1.1 200 OK\r\nA: " + much, lines, interims,
          std::string{"HTTP/1.1 101 Switching Protocols\r\n\r\n"},
          std::string{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"}}) {
        CAPTURE(text.substr(0, 100));
        CHECK(read(text).state == State::bad);
        CHECK(read(text, 6).state == State::bad);
    }
    CHECK(read("HTTP/1.1 200 OK\r\nContent-Length: 9000000000000000000\r\n\r\nx").state == State::need_more);
}

TEST_CASE("request bytes: what our server reads is what our client meant") {
    std::string bytes =
        request_bytes("POST", "/v3/kv/put?x=1", "[::1]:2379", {{"A", "b"}}, "{}", "application/json");
    RequestReader reader{{}};
    REQUIRE(reader.put(bytes) == RequestReader::State::complete);
    const HttpRequest request = reader.take();
    CHECK(request.method == "POST");
    CHECK(request.path == "/v3/kv/put");
    CHECK(request.body == "{}");
    CHECK(*find_header(request.headers, "Host") == "[::1]:2379");
    CHECK(*find_header(request.headers, "a") == "b");
    CHECK(*find_header(request.headers, "content-type") == "application/json");
    CHECK_FALSE(is_header_text("a\r\nb"));
    CHECK(is_header_text("a b\t\xc3\xa9"));
}
