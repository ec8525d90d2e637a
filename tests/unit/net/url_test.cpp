#include "net/url.hpp"

#include <doctest/doctest.h>

using namespace dynaplan;
using namespace dynaplan::net;

TEST_CASE("host and port: names, IPv4, bracketed IPv6, all addresses, a bare port") {
    CHECK(*parse_host_port("127.0.0.1:9086") == HostPort{"127.0.0.1", 9086});
    CHECK(*parse_host_port("[::1]:9086") == HostPort{"::1", 9086});
    CHECK(*parse_host_port("engine-7.fleet:1") == HostPort{"engine-7.fleet", 1});
    CHECK(*parse_host_port(":9086") == HostPort{"", 9086});
    CHECK(*parse_host_port("9086") == HostPort{"", 9086});
    CHECK(*parse_host_port("127.0.0.1:0") == HostPort{"127.0.0.1", 0});
    CHECK(*parse_host_port("etcd", 2379) == HostPort{"etcd", 2379});
    CHECK(*parse_host_port("[fe80::2]", 80) == HostPort{"fe80::2", 80});
    CHECK(HostPort{"::1", 80}.authority() == "[::1]:80");
    CHECK(HostPort{"etcd", 80}.authority() == "etcd:80");
}

TEST_CASE("host and port: what cannot be used is quoted with the reason") {
    for (const char* text : {"", "etcd", "etcd:", "etcd:65536", "etcd:-1", "etcd:8x", "::1:80", "[::1",
                             "[::1]80", "[x]:1", "a b:1", "[]:1", "1:2:3"}) {
        CAPTURE(text);
        const auto parsed = parse_host_port(text);
        REQUIRE(!parsed);
        CHECK(parsed.error().message.find("'" + std::string{text} + "'") != std::string::npos);
        CHECK(parsed.error().message.find('\n') == std::string::npos);
    }
    CHECK(!parse_host_port("a\nb:1"));
}

TEST_CASE("URL: scheme, default ports, a path without its last slash") {
    CHECK(*parse_url("http://etcd") == Url{false, {"etcd", 80}, ""});
    CHECK(*parse_url("HTTPS://etcd/") == Url{true, {"etcd", 443}, ""});
    CHECK(*parse_url("https://[::1]:2379/v3//") == Url{true, {"::1", 2379}, "/v3"});
    CHECK(parse_url("https://[::1]:2379/v3")->text() == "https://[::1]:2379/v3");
}

TEST_CASE("URL: refused with a reason, and never with the password that it holds") {
    for (const char* text : {"etcd:2379", "ftp://etcd", "http://", "http:///x", "http://etcd:0",
                             "http://etcd?x=1", "http://etcd/#x", "http://etcd/a b", "http://etcd:x"}) {
        CAPTURE(text);
        CHECK(!parse_url(text));
    }
    const auto secret = parse_url("http://root:hunter2@etcd:2379");
    REQUIRE(!secret);
    CHECK(secret.error().message.find("hunter2") == std::string::npos);
}

TEST_CASE("loopback: 127/8, ::1 and localhost only") {
    for (const char* host : {"127.0.0.1", "127.9.9.9", "::1", "localhost", "::ffff:127.0.0.1"})
        CHECK(is_loopback(host));
    for (const char* host :
         {"", "0.0.0.0", "::", "10.0.0.1", "128.0.0.1", "localhost.evil", "etcd", "::ffff:10.0.0.1"})
        CHECK_FALSE(is_loopback(host));
}

TEST_CASE("percent escapes: decoded and encoded, broken ones refused") {
    CHECK(*percent_decoded("a%2Fb+c") == "a/b+c");
    CHECK(*percent_decoded("a%2fb+c", true) == "a/b c");
    CHECK(*percent_decoded("%00") == std::string(1, '\0'));
    for (const char* text : {"%", "%2", "%2g", "a%", "%%41"}) CHECK(!percent_decoded(text));
    CHECK(percent_encoded("a/b c-._~\xff") == "a%2Fb%20c-._~%FF");
    CHECK(*percent_decoded(percent_encoded("any\r\n&=%thing")) == "any\r\n&=%thing");
}

TEST_CASE("query: in its order, with empty values, repeated names, no value at all") {
    const auto query = parse_query("after=-1&wait=30s&&x&after=2&y=a%26b+c=d");
    REQUIRE(query);
    CHECK(*query == std::vector<QueryItem>{
                        {"after", "-1"}, {"wait", "30s"}, {"x", ""}, {"after", "2"}, {"y", "a&b c=d"}});
    CHECK(parse_query("")->empty());
    CHECK(!parse_query("a=%zz"));
}
