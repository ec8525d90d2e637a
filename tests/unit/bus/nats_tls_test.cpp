// NATS over TLS, with a certification authority of the test's own.
#include <cstdlib>

#include <doctest/doctest.h>

#include "unit/bus/nats_server.hpp"

using namespace dynaplan;
using namespace dynaplan::bus;
using namespace dynaplan::bus::testing;

namespace {

// A CA and a server certificate for one subject alternative name.
struct Certificates {
    Certificates(const std::string& openssl, const std::string& alternative_name) {
        const auto run = [](const std::string& command) {
            REQUIRE_MESSAGE(std::system((command + " 2>/dev/null").c_str()) == 0, command);
        };
        const std::string key = " -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes ";
        run(openssl + " req -x509" + key + "-days 1 -subj /CN=test-ca -keyout " + folder / "ca.key" +
            " -out " + folder / "ca.pem");
        run(openssl + " req" + key + "-subj /CN=server -keyout " + folder / "server.key" + " -out " +
            folder / "server.csr");
        support::write_bytes(folder / "names", "subjectAltName=" + alternative_name + "\n");
        run(openssl + " x509 -req -days 1 -in " + folder / "server.csr" + " -CA " + folder / "ca.pem" +
            " -CAkey " + folder / "ca.key" + " -CAcreateserial -extfile " + folder / "names" + " -out " +
            folder / "server.pem");
    }
    [[nodiscard]] std::string configuration() const {
        return "tls { cert_file: \"" + folder / "server.pem" + "\", key_file: \"" + folder / "server.key" +
               "\" }\n";
    }
    support::TempFolder folder;
};

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("nats tls: a server is believed by its authority, its name, or because one is told to") {
        const auto program = support::program_or_skip("nats-server");
        const auto openssl = support::program_or_skip("openssl");
        if (!program || !openssl) return;
        const Certificates good{*openssl, "IP:127.0.0.1"};
        const Certificates elsewhere{*openssl, "DNS:elsewhere.example"};
        NatsServer server{*program, good.configuration()};
        NatsServer other{*program, elsewhere.configuration()};
        const auto trouble_of = [](const NatsOptions& options) {
            NatsRig rig;
            rig.open(options);
            rig.until([&] { return rig.counts.connected || rig.errors("tls") + rig.errors("connect") > 1; });
            return rig.counts.connected ? std::string{} : rig.counts.trouble;
        };
        const std::string address = server.address("tls");
        const auto says = [](const std::string& text, const std::string& trouble) {
            CHECK_MESSAGE(trouble.find(text) != std::string::npos, trouble);
        };
        CHECK(trouble_of({.server = address, .tls_ca_path = good.folder / "ca.pem"}).empty());
        CHECK(trouble_of({.server = address, .tls_insecure = true}).empty());
        CHECK(trouble_of({.server = other.address("tls"), .tls_insecure = true}).empty());
        says("issuer certificate",
             trouble_of({.server = address}));  // the system does not know this authority
        says("issuer certificate",
             trouble_of({.server = address, .tls_ca_path = elsewhere.folder / "ca.pem"}));
        says("nothing.pem", trouble_of({.server = address, .tls_ca_path = good.folder / "nothing.pem"}));
        says("mismatch",
             trouble_of({.server = other.address("tls"), .tls_ca_path = elsewhere.folder / "ca.pem"}));
    }

    TEST_CASE("nats tls: reports arrive, and a server without TLS is none that is asked for it") {
        const auto program = support::program_or_skip("nats-server");
        const auto openssl = support::program_or_skip("openssl");
        if (!program || !openssl) return;
        const Certificates certificates{*openssl, "IP:127.0.0.1"};
        NatsServer server{*program, certificates.configuration()};
        const NatsOptions options{.server = server.address("tls"),
                                  .tls_ca_path = certificates.folder / "ca.pem"};
        NatsRig rig;
        rig.open(options);
        rig.until([&] { return rig.counts.connected; });
        NatsRig::send(*NatsRig::publisher(options, wire::Era::august, decode_scope), payload("7", 0));
        rig.until([&] { return rig.seen.reports.size() == 1; });

        NatsServer plain{*program};
        NatsRig refused;
        refused.open(NatsOptions{.server = plain.address("tls")});
        refused.until([&] { return refused.errors("tls") > 0; });
        CHECK_MESSAGE(refused.troubled_by("Secure Connection not available"), refused.counts.trouble);
    }
}
