#include "bus/nats_options.hpp"

#include <doctest/doctest.h>

#include "bus/nats_key.hpp"

using namespace dynaplan;
using namespace dynaplan::bus;

TEST_SUITE("unit") {
    TEST_CASE("nats options: schemes, and TLS only where the address asks for it") {
        const auto message = [](const NatsOptions& options) {
            const auto good = check(options);
            return good ? std::string{} : good.error().message;
        };
        CHECK(message({}).empty());
        CHECK(message({.server = "tls://nats.example:4443", .tls_ca_path = "ca.pem"}).empty());
        CHECK(message({.server = "tls://nats.example", .tls_insecure = true}).empty());
        CHECK(message({.server = "nats.example:4222"}).find("nats://") != std::string::npos);
        CHECK(message({.server = "http://nats.example"}).find("http://nats.example") != std::string::npos);
        CHECK(message({.server = "nats://"}).find("no host") != std::string::npos);
        CHECK(message({.server = "nats://h", .tls_ca_path = "ca.pem"}).find("tls://") != std::string::npos);
        CHECK(message({.server = "nats://h", .tls_insecure = true}).find("tls://") != std::string::npos);
        const std::string shown_text = message({.server = "ftp://a:secret@h"});
        CHECK(shown_text.find("ftp://h") != std::string::npos);
        CHECK(shown_text.find("secret") == std::string::npos);
    }

    TEST_CASE("nats options: an nkey is looked at only when it is the one that counts") {
        const NatsLogin bad{.nkey_seed = "SUNONSENSE"};
        const auto refused = check({.login = bad});
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.error().message.find("SUNONSENSE") == std::string::npos);
        CHECK(check({.login = {.token = "t", .nkey_seed = "SUNONSENSE"}}).has_value());
        CHECK(check({.login = {.user = "a", .password = "b", .nkey_seed = "SUNONSENSE"}}).has_value());
        CHECK_FALSE(check({.login = {.user = "a", .nkey_seed = "SUNONSENSE"}}).has_value());
    }

    TEST_CASE("nats options: the host of an address, with and without what may stand around it") {
        CHECK(host_of("nats://h:4222") == "h");
        CHECK(host_of("tls://user:pass@h.example:4222/") == "h.example");
        CHECK(host_of("tls://[::1]:4222") == "::1");
        CHECK(host_of("nats://h") == "h");
        CHECK(shown("nats://user:p@ss@h:1") == "nats://h:1");
    }

    TEST_CASE("nats options: subjects with a meaning of their own are refused") {
        for (const char* bad : {"", "a b", "a\tb", "a\n", "a\x7f", "a.*", "a.>", "a*", ".a", "a.", "a..b"}) {
            CHECK_MESSAGE(!check_subject(bad).has_value(), bad);
        }
        CHECK_FALSE(check_subject(std::string(4001, 'a')).has_value());
        CHECK(check_subject(std::string(4000, 'a')).has_value());
        CHECK(check_subject("namespace.a.component.b%20c.forward-pass-metrics").has_value());
        CHECK(check_subject("namespace.\xc3\xa9.x").has_value());
    }

    TEST_CASE("nats key: the public key of a seed, and damage of any character") {
        const std::string seed = "SUAMK2FG4MI6UE3ACF3FK3OIQBCEIEZV7NSWFFEW63UXMRLFM2XLAXK4GY";
        // That a server takes the two for a pair is another test's, in nats_adapter_test.cpp.
        const auto key = nats_public_key(seed);
        REQUIRE(key.has_value());
        CHECK(*key == "UAT6BWCSCWLUKJT6K6MBJJOEOTXZ5AJDOYKNEVRFC7VNO6OA43N4TRNO");
        // The last character but one bit is beyond the key's 36 bytes.
        for (std::size_t i = 0; i + 1 < seed.size(); ++i) {
            std::string damaged = seed;
            damaged[i] = damaged[i] == 'A' ? 'B' : 'A';
            CHECK_MESSAGE(!nats_public_key(damaged).has_value(), i);
        }
        CHECK_FALSE(nats_public_key("").has_value());
        CHECK_FALSE(nats_public_key(seed + "A").has_value());
        CHECK_FALSE(nats_public_key(*key).has_value());
    }
}
