// List, then watch, against a real etcd that is stopped, wiped and compacted, and against a gateway of the
// test's own for what cannot be provoked at will.
#include "net/etcd_watch.hpp"

#include <doctest/doctest.h>

#include "net/etcd_host.hpp"

using namespace dynaplan;
using namespace dynaplan::net;
using namespace dynaplan::net::testing;
using namespace std::chrono_literals;
using support::EtcdServer;

namespace {

// What a watch has told: the keys as they are by it.
struct Seen {
    std::map<std::string, std::string> keys;
    int listings = 0;
    std::vector<std::string> why;
    std::vector<std::size_t> batches;
    std::vector<std::int64_t> revisions;  // of each batch

    EtcdWatch::Callbacks callbacks() {
        return {[this](const EtcdListing& listing) {
                    ++listings;
                    keys.clear();
                    for (const EtcdPair& pair : listing.pairs) keys[pair.key] = pair.value;
                },
                [this](std::int64_t revision, const std::vector<EtcdEvent>& events) {
                    batches.push_back(events.size());
                    revisions.push_back(revision);
                    for (const EtcdEvent& event : events) {
                        if (event.deleted) {
                            keys.erase(event.pair.key);
                        } else {
                            keys[event.pair.key] = event.pair.value;
                        }
                    }
                },
                [this](const std::string& reason) { why.push_back(reason); }};
    }
};

EtcdWatchOptions options_of(std::string_view prefix) {
    EtcdWatchOptions options;
    options.span = etcd_prefix(prefix);
    options.backoff.first = 10ms;  // tests need not wait
    options.backoff.max = 100ms;
    return options;
}

double no_jitter() { return 0.0; }

using Keys = std::map<std::string, std::string>;

// Tells the answers that are due: one after the other for each listing and each watch.
struct FakeGateway {
    FakeGateway(asio::io_context& loop, std::vector<std::string> l, std::vector<std::string> w)
        : listings{std::move(l)}, watches{std::move(w)}, server{loop, [this](RawPeer& peer) {
                                                                    answer(peer);
                                                                }} {}

    void answer(RawPeer& peer) {
        const bool range = peer.received.find("/v3/kv/range") != std::string::npos;
        if (peer.received.find("\r\n\r\n{") == std::string::npos || !peer.received.ends_with('}')) return;
        peer.received.clear();
        if (range) {
            const std::string body = listings.at(std::min(listed++, listings.size() - 1));
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                      body);
        } else {
            // Without a length: it lasts until the connection closes.
            peer.send("HTTP/1.1 200 OK\r\n\r\n" + watches.at(std::min(watched++, watches.size() - 1)));
        }
    }

    std::vector<std::string> listings;
    std::vector<std::string> watches;
    std::size_t listed = 0;
    std::size_t watched = 0;
    RawServer server;
};

}  // namespace

TEST_CASE("etcd watch: the listing comes first, then every change, one call for each revision") {
    if (!support::etcd_program()) return;
    const EtcdServer server;
    asio::io_context loop;
    EtcdClient client = client_of(loop, options_for({server.url()}));
    put(loop, client, "p/a", "1");
    put(loop, client, "q", "not mine");
    Seen seen;
    EtcdWatch watch{loop, client, options_of("p/"), no_jitter, seen.callbacks()};
    CHECK(watch.stale());
    watch.start();
    REQUIRE(run_until(loop, [&] { return seen.listings == 1; }));
    CHECK_FALSE(watch.stale());
    CHECK(seen.keys == Keys{{"p/a", "1"}});
    EtcdTransaction t;
    t.success = {EtcdPut{"p/a", "2"}, EtcdPut{"p/b", "3"}, EtcdPut{"p/c", "4"}, EtcdPut{"q", "5"}};
    REQUIRE(transact(loop, client, t));
    REQUIRE(run_until(loop, [&] { return !seen.batches.empty(); }));
    CHECK(seen.batches == std::vector<std::size_t>{3});
    EtcdTransaction erase;
    erase.success = {EtcdDelete{etcd_prefix("p/b")}};
    REQUIRE(transact(loop, client, erase));
    REQUIRE(run_until(loop, [&] { return seen.batches.size() == 2; }));
    CHECK(seen.keys == Keys{{"p/a", "2"}, {"p/c", "4"}});
    CHECK(watch.counts().events == 4);
    CHECK(seen.why.empty());
}

TEST_CASE("etcd watch: after the server was away everything is listed again, with what changed meanwhile") {
    if (!support::etcd_program()) return;
    EtcdServer server;
    asio::io_context loop;
    EtcdClient client = client_of(loop, options_for({server.url()}));
    put(loop, client, "p/a", "1");
    put(loop, client, "p/b", "1");
    Seen seen;
    EtcdWatch watch{loop, client, options_of("p/"), no_jitter, seen.callbacks()};
    watch.start();
    REQUIRE(run_until(loop, [&] { return seen.listings == 1; }));
    server.stop();
    REQUIRE(run_until(loop, [&] { return watch.stale() && seen.why.size() >= 2; }));
    CHECK(seen.why.front().starts_with(server.url()));
    server.start();
    // Before the watch is back, and the revision that it stood at is compacted.
    asio::io_context other;
    EtcdClient neighbour = client_of(other, options_for({server.url()}));
    EtcdTransaction erase;
    erase.success = {EtcdDelete{{"p/b", ""}}, EtcdPut{"p/a", "2"}, EtcdPut{"p/c", "3"}};
    const auto changed = transact(other, neighbour, erase);
    REQUIRE(changed);
    compact(other, server.url(), changed->revision);
    REQUIRE(run_until(loop, [&] { return !watch.stale(); }));
    CHECK(seen.keys == Keys{{"p/a", "2"}, {"p/c", "3"}});
    CHECK(watch.counts().breaks == seen.why.size());
    put(loop, client, "p/d", "4");
    CHECK(run_until(loop, [&] { return seen.keys.contains("p/d"); }));
}

TEST_CASE("etcd watch: an established watch survives a compaction") {
    if (!support::etcd_program()) return;
    const EtcdServer server;
    asio::io_context loop;
    EtcdClient client = client_of(loop, options_for({server.url()}));
    Seen seen;
    EtcdWatch watch{loop, client, options_of("p/"), no_jitter, seen.callbacks()};
    watch.start();
    REQUIRE(run_until(loop, [&] { return seen.listings == 1; }));
    for (int i = 0; i < 5; ++i) put(loop, client, "neighbour", std::to_string(i));
    compact(loop, server.url(), list(loop, client, {"x", ""})->revision);
    put(loop, client, "p/a", "1");
    CHECK(run_until(loop, [&] { return seen.keys == Keys{{"p/a", "1"}}; }));
    CHECK(seen.listings == 1);
}

TEST_CASE("etcd watch: a server that was wiped starts anew with its lower revisions") {
    if (!support::etcd_program()) return;
    auto server = std::make_unique<EtcdServer>();
    const EtcdServer second;
    asio::io_context loop;
    EtcdClient client = client_of(loop, options_for({server->url(), second.url()}));
    for (int i = 0; i < 20; ++i) put(loop, client, "p/a", std::to_string(i));
    Seen seen;
    EtcdWatch watch{loop, client, options_of("p/"), no_jitter, seen.callbacks()};
    watch.start();
    REQUIRE(run_until(loop, [&] { return seen.listings == 1; }));
    server.reset();  // the other endpoint is an empty store
    REQUIRE(run_until(loop, [&] { return seen.listings == 2; }));
    CHECK(seen.keys.empty());
    put(loop, client, "p/b", "1");
    CHECK(run_until(loop, [&] { return seen.keys == Keys{{"p/b", "1"}}; }));
}

TEST_CASE("etcd watch: an unbroken one is listed anew from time to time, without being stale") {
    if (!support::etcd_program()) return;
    const EtcdServer server;
    asio::io_context loop;
    EtcdClient client = client_of(loop, options_for({server.url()}));
    put(loop, client, "p/a", "1");
    Seen seen;
    EtcdWatchOptions options = options_of("p/");
    options.relist_every = 20ms;
    EtcdWatch watch{loop, client, options, no_jitter, seen.callbacks()};
    watch.start();
    REQUIRE(run_until(loop, [&] { return seen.listings == 1; }));
    REQUIRE(run_until(loop, [&] { return watch.stale() || seen.listings == 4; }));
    CHECK_FALSE(watch.stale());
    CHECK(seen.why.empty());
    watch.stop();
    run_ready(loop);
    CHECK(seen.listings == 4);
}

TEST_CASE("etcd watch: a compacted start is cancelled on an open stream, and is listed again") {
    asio::io_context loop;
    const std::string created = "{\"result\":{\"header\":{\"revision\":\"9\"},\"created\":true}}\n";
    const std::string canceled =
        "{\"result\":{\"header\":{},\"canceled\":true,\"compact_revision\":\"8\"}}\n";
    const std::string event =
        R"({"result":{"header":{"revision":"10"},"events":[{"kv":{"key":"cC9i","mod_revision":"10","value":"Mg=="}}]}})"
        "\n";
    FakeGateway gateway{loop,
                        {R"({"header":{"revision":"5"},"kvs":[{"key":"cC9h","value":"MQ=="}]})",
                         R"({"header":{"revision":"9"}})"},
                        {created + canceled + event, created + event}};
    EtcdClient client = client_of(loop, options_for({gateway.server.url()}));
    Seen seen;
    EtcdWatch watch{loop, client, options_of("p/"), no_jitter, seen.callbacks()};
    watch.start();
    REQUIRE(run_until(loop, [&] { return seen.keys == Keys{{"p/b", "2"}}; }));
    CHECK(seen.listings == 2);
    CHECK(watch.counts().compactions == 1);
    REQUIRE(seen.why.size() == 1);
    CHECK(seen.why[0].find("the store was compacted at revision 8") != std::string::npos);
    // What a cancelled stream still says is not listened to.
    CHECK(seen.batches == std::vector<std::size_t>{1});
}

// etcd hands over the events that a new watch has missed in parts of a thousand revisions.
TEST_CASE("etcd watch: events tell how far they go, not the head of the message, which may be ahead") {
    asio::io_context loop;
    const auto event = [](int revision) {
        return R"({"result":{"header":{"revision":"90"},"events":[{"kv":{"key":"cC9i","value":"Mg==","mod_revision":")" +
               std::to_string(revision) + "\"}}]}}\n";
    };
    FakeGateway gateway{loop,
                        {R"({"header":{"revision":"5"}})"},
                        {"{\"result\":{\"created\":true}}\n" + event(6) + event(7)}};
    EtcdClient client = client_of(loop, options_for({gateway.server.url()}));
    Seen seen;
    EtcdWatch watch{loop, client, options_of("p/"), no_jitter, seen.callbacks()};
    watch.start();
    REQUIRE(run_until(loop, [&] { return seen.batches.size() == 2; }));
    CHECK(seen.revisions == std::vector<std::int64_t>{6, 7});
}

TEST_CASE("etcd watch: lines that make no sense and error objects break it") {
    asio::io_context loop;
    const std::string created = "{\"result\":{\"header\":{\"revision\":\"9\"},\"created\":true}}\n";
    FakeGateway gateway{
        loop,
        {R"({"header":{"revision":"5"}})"},
        {created + "nonsense\n", created + "{\"error\":{\"grpc_code\":14,\"message\":\"bye\"}}\n", created}};
    EtcdClient client = client_of(loop, options_for({gateway.server.url()}));
    Seen seen;
    EtcdWatch watch{loop, client, options_of("p/"), no_jitter, seen.callbacks()};
    watch.start();
    REQUIRE(run_until(loop, [&] { return seen.listings == 3; }));
    REQUIRE(seen.why.size() == 2);
    CHECK(seen.why[0].ends_with("etcd's answer: is no JSON object"));
    CHECK(seen.why[1].ends_with("etcd ended the watch: bye"));
}

TEST_CASE("etcd watch: it may be destroyed in its own callbacks") {
    asio::io_context loop;
    FakeGateway gateway{loop,
                        {R"({"header":{"revision":"5"}})"},
                        {"{\"result\":{\"created\":true,\"events\":[{\"kv\":{\"key\":\"cA==\"}}]}}\n"}};
    EtcdClient client = client_of(loop, options_for({gateway.server.url()}));
    Seen seen;
    std::unique_ptr<EtcdWatch> watch;
    auto callbacks = seen.callbacks();
    callbacks.on_listing = [&](const EtcdListing&) {
        ++seen.listings;
        watch.reset();
    };
    watch = std::make_unique<EtcdWatch>(loop, client, options_of("p/"), no_jitter, callbacks);
    watch->start();
    REQUIRE(run_until(loop, [&] { return seen.listings == 1; }));
    run_ready(loop);
    CHECK(seen.batches.empty());
    CHECK(seen.why.empty());
}
