// DYN_ZMQ_BROKER_URL (event-plane specification 5.4).
#include <doctest/doctest.h>

#include <string>

#include "wire/broker_url.hpp"

namespace dynaplan::wire {
namespace {

TEST_CASE("broker URL: one address each way, the parts in either order") {
    const BrokerUrl expected{{"tcp://b:5555"}, {"tcp://b:5556"}};
    CHECK(parse_broker_url("xsub=tcp://b:5555,xpub=tcp://b:5556") == expected);
    CHECK(parse_broker_url("xpub=tcp://b:5556 , xsub=tcp://b:5555") == expected);
}

TEST_CASE("broker URL: several addresses, blanks around each, empty ones left out") {
    CHECK(parse_broker_url("\t xsub= tcp://a:1 ;; tcp://b:1; , xpub=;tcp://a:2;tcp://[::1]:2\n") ==
          BrokerUrl{{"tcp://a:1", "tcp://b:1"}, {"tcp://a:2", "tcp://[::1]:2"}});
    CHECK(parse_broker_url("xsub=a=b,xpub=c d") == BrokerUrl{{"a=b"}, {"c d"}});
}

TEST_CASE("broker URL: there are exactly two parts") {
    for (const char* text :
         {"", " ", "xsub=a", "xsub=a;xpub=b", "xsub=a,xpub=b,", "xsub=a,xpub=b,xpub=c", ",xsub=a,xpub=b"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_broker_url(text).has_value());
    }
}

TEST_CASE("broker URL: each part has one of the two names, and both have an address") {
    for (const char* text :
         {",", "a,b", "xsub=a,b", "xsub=a,xpub", "xsub =a,xpub=b", "XSUB=a,xpub=b", "xsub=a,pub=b",
          "xsub=,xpub=b", "xsub=a,xpub=", "xsub=a,xpub= ; ;", "xsub=a,xsub=b", "xpub=a,xpub=b"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_broker_url(text).has_value());
    }
}

TEST_CASE("broker URL: the message is one short line that says what is expected") {
    CHECK(parse_broker_url("").error().message ==
          "DYN_ZMQ_BROKER_URL: '' does not have two parts with one comma between them, expected "
          "'xsub=<url>[;<url>...],xpub=<url>[;<url>...]'");
    for (const std::string& text :
         {std::string(10'000, '\n'), std::string(10'000, ';') + ',', std::string{"xsub=a,\0", 8}}) {
        const auto wrong = parse_broker_url(text);
        REQUIRE_FALSE(wrong.has_value());
        CHECK(wrong.error().message.size() < 300);
        for (const char c : wrong.error().message) CHECK(static_cast<unsigned char>(c) >= 0x20);
    }
}

}  // namespace
}  // namespace dynaplan::wire
