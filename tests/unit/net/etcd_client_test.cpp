// The client against a real etcd, and against endpoints that are not there.
#include "net/etcd_client.hpp"

#include <doctest/doctest.h>

#include "net/etcd_host.hpp"
#include "net/identity.hpp"

using namespace dynaplan;
using namespace dynaplan::net;
using namespace dynaplan::net::testing;
using namespace std::chrono_literals;
using support::EtcdServer;

namespace {

std::string nobody_listens() { return "http://127.0.0.1:" + std::to_string(support::free_port()); }

EtcdTransaction when(EtcdCompare compare) {
    EtcdTransaction t;
    t.compare.push_back(std::move(compare));
    return t;
}

}  // namespace

TEST_CASE("etcd client: what was put is listed, with its revisions, and a prefix lists its keys only") {
    if (!support::etcd_program()) return;
    const EtcdServer server;
    asio::io_context loop;
    EtcdClient client = client_of(loop, options_for({server.url()}));
    const std::string binary{"\0\xff{\"", 4};
    put(loop, client, "a/1", binary);
    put(loop, client, "a/2", "");
    put(loop, client, "a/1", "x");
    put(loop, client, "b", "y");
    const auto listing = list(loop, client, etcd_prefix("a/"));
    REQUIRE(listing);
    REQUIRE(listing->pairs.size() == 2);
    const EtcdPair& first = listing->pairs[0];
    CHECK(first == EtcdPair{"a/1", "x", first.create_revision, first.create_revision + 2, 2, 0});
    CHECK(listing->pairs[1].value.empty());
    CHECK(listing->revision == first.mod_revision + 1);
    put(loop, client, "a/1", binary);
    CHECK(list(loop, client, {"a/1", ""})->pairs.at(0).value == binary);
    CHECK(list(loop, client, {"c", ""})->pairs.empty());
}

TEST_CASE(
    "etcd client: each field of a key can be compared, and the branch that holds is carried out whole") {
    if (!support::etcd_program()) return;
    const EtcdServer server;
    asio::io_context loop;
    EtcdClient client = client_of(loop, options_for({server.url()}));
    const std::int64_t lease = grant(loop, client, 60s).lease;
    put(loop, client, "k", "v");
    put(loop, client, "k", "v", lease);
    const EtcdPair pair = list(loop, client, {"k", ""})->pairs.at(0);
    CHECK(pair.lease == lease);

    const auto holds = [&](EtcdCompare compare) {
        const auto answer = transact(loop, client, when(std::move(compare)));
        REQUIRE_MESSAGE(answer, answer.error().message);
        return answer->succeeded;
    };
    CHECK(holds({.key = "k", .field = EtcdField::version, .number = 2}));
    CHECK(holds({.key = "k", .field = EtcdField::create_revision, .number = pair.create_revision}));
    CHECK(holds({.key = "k", .field = EtcdField::mod_revision, .number = pair.mod_revision}));
    CHECK(holds({.key = "k", .field = EtcdField::lease, .number = lease}));
    CHECK(holds({.key = "k", .field = EtcdField::value, .text = "v"}));
    CHECK(holds({.key = "k", .field = EtcdField::value, .text = "w", .relation = EtcdRelation::not_equal}));
    CHECK(holds({.key = "k", .number = pair.mod_revision - 1, .relation = EtcdRelation::greater}));
    CHECK(holds({.key = "k", .number = pair.mod_revision + 1, .relation = EtcdRelation::less}));
    CHECK_FALSE(holds({.key = "k", .field = EtcdField::version, .number = 1}));
    CHECK_FALSE(holds({.key = "k", .field = EtcdField::value, .text = "w"}));
    CHECK(holds({.key = "absent", .field = EtcdField::mod_revision, .number = 0}));
    CHECK_FALSE(holds({.key = "k", .field = EtcdField::mod_revision, .number = 0}));

    EtcdTransaction t = when({.key = "k", .number = pair.mod_revision});
    t.success = {EtcdPut{"k", "w"}, EtcdPut{"l", "1"}, EtcdRead{{"k", ""}}};
    t.failure = {EtcdRead{etcd_prefix("k")}};
    const auto done = transact(loop, client, t);
    REQUIRE(done);
    CHECK(done->succeeded);
    CHECK(done->listings.at(0).pairs.at(0) ==
          EtcdPair{"k", "w", pair.create_revision, done->revision, 3, 0});  // and the lease is off
    const auto again = transact(loop, client, t);
    REQUIRE(again);
    CHECK_FALSE(again->succeeded);
    CHECK(again->listings.at(0).pairs.at(0).mod_revision == done->revision);
    EtcdTransaction erase;
    erase.success = {EtcdDelete{{"k", ""}}};
    REQUIRE(transact(loop, client, erase));
    CHECK(list(loop, client, {"k", ""})->pairs.empty());
}

TEST_CASE("etcd client: a lease is granted, renewed, asked about and revoked with its keys") {
    if (!support::etcd_program()) return;
    const EtcdServer server;
    asio::io_context loop;
    EtcdClient client = client_of(loop, options_for({server.url()}));
    const EtcdGrant lease = grant(loop, client, 30s);
    CHECK(lease.ttl == 30s);
    put(loop, client, "k", "v", lease.lease);
    using Kept = EtcdResult<std::optional<std::chrono::seconds>>;
    const auto keep = [&] {
        return awaited<Kept>(loop, [&](auto done) { client.keep_alive(lease.lease, done); });
    };
    CHECK(keep().value() == 30s);
    const auto time =
        awaited<EtcdResult<EtcdLeaseTime>>(loop, [&](auto done) { client.lease_time(lease.lease, done); });
    REQUIRE(time);
    CHECK(time->granted == 30s);
    CHECK(time->left >= 28s);
    CHECK(time->keys == std::vector<std::string>{"k"});
    CHECK(revoke(loop, client, lease.lease));
    CHECK(list(loop, client, {"k", ""})->pairs.empty());
    CHECK_FALSE(keep().value());
    CHECK_MESSAGE(revoke(loop, client, lease.lease), "a lease that is gone is as good as revoked");
    const auto late = transact(loop, client, putting("k", "v", lease.lease));
    REQUIRE_FALSE(late);
    CHECK(late.error().fault == EtcdFault::refused);
    CHECK(late.error().message.find("requested lease not found") != std::string::npos);
}

TEST_CASE("etcd client: an endpoint that is away is passed over, for questions and for changes") {
    if (!support::etcd_program()) return;
    const EtcdServer server;
    asio::io_context loop;
    EtcdClient asking = client_of(loop, options_for({nobody_listens(), nobody_listens(), server.url()}));
    CHECK(list(loop, asking, {"k", ""}));
    CHECK(asking.endpoint() == server.url());
    CHECK(asking.counts().fail_overs == 2);
    EtcdClient changing = client_of(loop, options_for({nobody_listens(), server.url()}));
    put(loop, changing, "k", "v");
    CHECK(changing.counts().fail_overs == 1);
    CHECK(changing.counts().lost == 0);
}

TEST_CASE("etcd client: a change that is not sent is told from one whose answer is lost") {
    if (!support::etcd_program()) return;
    EtcdServer server;
    asio::io_context loop;
    EtcdOptions options = options_for({server.url()});
    options.request_timeout = 300ms;
    EtcdClient client = client_of(loop, options);
    put(loop, client, "k", "1");
    server.freeze();
    const auto lost = transact(loop, client, putting("k", "2"));
    REQUIRE_FALSE(lost);
    CHECK(lost.error().fault == EtcdFault::lost);
    // From now on an answer is wanted before anything is changed.
    const auto unsent = transact(loop, client, putting("k", "3"));
    REQUIRE_FALSE(unsent);
    CHECK(unsent.error().fault == EtcdFault::unreachable);
    server.thaw();
    put(loop, client, "l", "4");
    CHECK(list(loop, client, {"k", ""})->pairs.at(0).value != "3");
    server.kill();
    REQUIRE(run_until(loop, [&] { return !list(loop, client, {"k", ""}); }));
    CHECK(transact(loop, client, putting("k", "5")).error().fault == EtcdFault::unreachable);
    server.start();
    put(loop, client, "k", "6");
}

TEST_CASE("etcd client: a user gets a token, and another one when the server has forgotten the first") {
    if (!support::etcd_program()) return;
    EtcdServer server;
    asio::io_context loop;
    post(loop, server.url(), "/v3/auth/user/add", R"({"name":"root","password":"secret"})");
    post(loop, server.url(), "/v3/auth/role/add", R"({"name":"root"})");
    post(loop, server.url(), "/v3/auth/user/grant", R"({"user":"root","role":"root"})");
    post(loop, server.url(), "/v3/auth/enable", "{}");

    EtcdClient stranger = client_of(loop, options_for({server.url()}));
    const auto refused = transact(loop, stranger, putting("k", "v"));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().fault == EtcdFault::refused);

    EtcdOptions options = options_for({server.url()});
    options.username = "root";
    options.password = "secret";
    EtcdClient client = client_of(loop, options);
    put(loop, client, "k", "v");
    CHECK(client.counts().tokens == 1);
    server.stop();
    server.start();   // simple tokens live in the server's memory
    run_ready(loop);  // notices that its connection has gone
    put(loop, client, "k", "w");
    CHECK(list(loop, client, {"k", ""})->pairs.at(0).value == "w");
    CHECK(client.counts().tokens == 2);

    options.password = "wrong";
    EtcdClient wrong = client_of(loop, options);
    const auto unknown = transact(loop, wrong, putting("k", "x"));
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().fault == EtcdFault::unreachable);
    CHECK(unknown.error().message.starts_with("etcd: user root gets no token: "));
}

TEST_CASE("etcd client: over TLS with a client's certificate, as text and as paths") {
    if (!support::etcd_program()) return;
    const support::TempFolder folder;
    const Identity of_server = make_identity("IP:127.0.0.1");
    const Identity of_client = make_identity("DNS:planner");
    support::write_bytes(folder / "server.pem", of_server.certificate);
    support::write_bytes(folder / "server.key", of_server.key);
    support::write_bytes(folder / "client.pem", of_client.certificate);
    support::write_bytes(folder / "client.key", of_client.key);
    // The gateway within etcd is a client too, with the server's certificate.
    support::write_bytes(folder / "trusted.pem", of_server.certificate + of_client.certificate);
    const EtcdServer server{{"--cert-file=" + (folder / "server.pem"),
                             "--key-file=" + (folder / "server.key"),
                             "--trusted-ca-file=" + (folder / "trusted.pem"), "--client-cert-auth"}};
    asio::io_context loop;
    EtcdOptions options = options_for({"127.0.0.1:" + std::to_string(server.port())});
    options.tls.certificate_authority = of_server.certificate;
    options.tls.client_certificate = of_client.certificate;
    options.tls.client_key = of_client.key;
    EtcdClient by_text = client_of(loop, options);
    put(loop, by_text, "k", "v");
    options.tls.certificate_authority = folder / "server.pem";
    options.tls.client_certificate = folder / "client.pem";
    options.tls.client_key = folder / "client.key";
    EtcdClient by_path = client_of(loop, options);
    CHECK(list(loop, by_path, {"k", ""})->pairs.at(0).value == "v");
    options.tls.client_certificate.clear();
    options.tls.client_key.clear();
    EtcdClient without = client_of(loop, options);
    CHECK(list(loop, without, {"k", ""}).error().fault == EtcdFault::lost);
}

TEST_CASE("etcd client: endpoints that cannot be used are refused at once") {
    asio::io_context loop;
    CHECK(EtcdClient::create(loop, options_for({})).error().message == "etcd: no endpoint is given");
    CHECK_FALSE(EtcdClient::create(loop, options_for({"ftp://a"})));
    EtcdOptions options = options_for({"https://127.0.0.1:1"});
    options.tls.certificate_authority = "/nowhere.pem";
    CHECK(EtcdClient::create(loop, options)
              .error()
              .message.starts_with("etcd endpoint \"https://127.0.0.1:1\": TLS certificate authority: "));
}

TEST_CASE("etcd client: no callback comes once it is destroyed") {
    asio::io_context loop;
    bool called = false;
    {
        EtcdClient client = client_of(loop, options_for({nobody_listens()}));
        client.list({"k", ""}, [&](const EtcdResult<EtcdListing>&) { called = true; });
        client.transact({}, [&](const EtcdResult<EtcdTransactionAnswer>&) { called = true; });
        client.watch(
            {"k", ""}, 1,
            {[&](const EtcdWatchMessage&) { called = true; }, [&](const std::string&) { called = true; }});
    }
    run_ready(loop);
    CHECK_FALSE(called);
}
