#include "net/etcd_options.hpp"

#include <map>

#include <doctest/doctest.h>

using namespace dynaplan;
using namespace dynaplan::net;
using namespace std::chrono_literals;

namespace {

using Environment = std::map<std::string, std::string, std::less<>>;

Result<EtcdOptions> read(const Environment& environment) {
    return etcd_options_from([&](std::string_view name) -> std::optional<std::string> {
        const auto found = environment.find(name);
        return found == environment.end() ? std::nullopt : std::optional{found->second};
    });
}

std::string problem(const Environment& environment) {
    const auto options = read(environment);
    return options ? "none" : options.error().message;
}

}  // namespace

TEST_CASE("etcd options: an empty environment gives the defaults") {
    const auto options = read({{"ETCD_ENDPOINTS", ""}});
    REQUIRE(options);
    CHECK(options->endpoints == std::vector<std::string>{"http://localhost:2379"});
    CHECK(options->username.empty());
    CHECK(options->lease_ttl == 10s);
}

TEST_CASE("etcd options: endpoints are separated by commas and taken as they are") {
    const auto options = read({{"ETCD_ENDPOINTS", "http://a:1,https://b:2,c:3"}});
    REQUIRE(options);
    CHECK(options->endpoints == std::vector<std::string>{"http://a:1", "https://b:2", "c:3"});
    CHECK(problem({{"ETCD_ENDPOINTS", "http://a:1, http://b:2"}})
              .starts_with("ETCD_ENDPOINTS: etcd endpoint \" http://b:2\": "));
    CHECK(problem({{"ETCD_ENDPOINTS", "http://a:1,"}}).starts_with("ETCD_ENDPOINTS: etcd endpoint \"\": "));
}

TEST_CASE("etcd options: an endpoint without a scheme is https when there are certificates") {
    CHECK(etcd_endpoint_url("a:1", {}).value() == "http://a:1");
    TlsOptions tls;
    tls.certificate_authority = "/ca.pem";
    CHECK(etcd_endpoint_url("a:1", tls).value() == "https://a:1");
    CHECK(etcd_endpoint_url("http://a:1", tls).value() == "http://a:1");
}

TEST_CASE("etcd options: a name goes before certificates, and halves are refused") {
    const auto named =
        read({{"ETCD_AUTH_USERNAME", "u"}, {"ETCD_AUTH_PASSWORD", "p"}, {"ETCD_AUTH_CA", "ca"}});
    REQUIRE(named);
    CHECK(named->username == "u");
    CHECK(named->password == "p");
    CHECK(named->tls.certificate_authority.empty());
    const auto certified =
        read({{"ETCD_AUTH_CA", "ca"}, {"ETCD_AUTH_CLIENT_CERT", "cert"}, {"ETCD_AUTH_CLIENT_KEY", "key"}});
    REQUIRE(certified);
    CHECK(certified->tls.certificate_authority == "ca");
    CHECK(certified->tls.client_certificate == "cert");
    CHECK(certified->tls.client_key == "key");
    CHECK(problem({{"ETCD_AUTH_USERNAME", "u"}}) ==
          "ETCD_AUTH_USERNAME and ETCD_AUTH_PASSWORD: one is set and the other is not; set both");
    CHECK(problem({{"ETCD_AUTH_CLIENT_KEY", "k"}}) ==
          "ETCD_AUTH_CLIENT_CERT and ETCD_AUTH_CLIENT_KEY: one is set and the other is not; set both");
}

TEST_CASE("etcd options: the lease's time falls back to ten seconds") {
    CHECK(read({{"ETCD_LEASE_TTL", "3"}})->lease_ttl == 3s);
    for (const char* text : {"0", "", "-1", "x", "3s", " 3", "99999999999999999999", "9000000001"})
        CHECK(read({{"ETCD_LEASE_TTL", text}})->lease_ttl == 10s);
}
