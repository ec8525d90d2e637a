// The store while etcd is away, frozen, or compacted.
#include <doctest/doctest.h>

#include "etcd_desk.hpp"

namespace dynaplan::connector {

namespace {

using port::CommitResult;

}  // namespace

TEST_CASE("etcd outage: while it is away proposals are refused, and afterwards all goes on where it was") {
    if (!support::etcd_program()) return;
    support::EtcdServer server;
    boost::asio::io_context loop;
    Desk desk{loop, server.url(), in("demo")};
    desk.open();
    CHECK(desk.propose(1, 1) == Lines{"published 0 as 0"});
    server.stop();
    REQUIRE(run_until(loop, [&] { return desk.store->stale(); }));
    CHECK_FALSE(desk.breaks.empty());
    CHECK(desk.propose(2, 1) == Lines{"refused 1 store"});
    CHECK_FALSE(desk.store->trouble().empty());
    CHECK(desk.propose(2, 1) == Lines{"refused 2 store"});
    server.start();
    {
        // Acknowledged before our watch is back: the direct read finds it.
        boost::asio::io_context elsewhere;
        net::EtcdClient other = client_of(elsewhere, options_for({server.url()}));
        net::testing::put(elsewhere, other, desk.keys.acknowledged, "0");
    }
    CHECK(desk.propose(2, 1) == Lines{"outcome 0 acknowledged", "published 3 as 1"});
    REQUIRE(run_until(loop, [&] { return !desk.store->stale(); }));
    desk.put(desk.keys.acknowledged, "1");
    CHECK(desk.wait_for_line("outcome 1 acknowledged"));
}

TEST_CASE("etcd outage: a lost answer is unknown, and the next attempt reads what became of it") {
    if (!support::etcd_program()) return;
    support::EtcdServer server;
    boost::asio::io_context loop;
    Desk desk{loop, server.url(), in("demo"), 500};
    desk.open();
    (void)desk.propose(1, 1);
    REQUIRE(desk.complete(0).status == decision::Settlement::Status::done);
    (void)desk.take_lines();
    server.freeze();
    CHECK(desk.propose(2, 1) == Lines{"refused 1 store"});
    CHECK(desk.results.back() == CommitResult::unknown);
    CHECK(desk.store->counts().unknown == 1);
    server.thaw();
    // What was sent may have been carried out when the server went on: then the decision stands, and is ours.
    REQUIRE(run_until(loop, [&] { return !net::testing::list(loop, desk.client, {"x", {}})->pairs.size(); }));
    const Lines lines = desk.propose(2, 1);
    const bool carried_out = desk.value(desk.keys.current) == "1" && lines.back() != "published 2 as 1";
    CHECK((carried_out ? lines.back() == "refused 2 unchanged" : lines.back() == "published 2 as 1"));
    CHECK(desk.value(desk.keys.current) == "1");
    CHECK(desk.value(desk.keys.prefill) == "2");
}

TEST_CASE("etcd outage: a compaction while watching loses no acknowledgement") {
    if (!support::etcd_program()) return;
    support::EtcdServer server;
    boost::asio::io_context loop;
    Desk desk{loop, server.url(), in("demo")};
    desk.open();
    (void)desk.propose(1, 1);
    for (int i = 0; i < 10; ++i) desk.put("neighbour", std::to_string(i));
    net::testing::compact(loop, server.url(), desk.pair("neighbour")->mod_revision);
    desk.put(desk.keys.acknowledged, "0");
    CHECK(desk.wait_for_line("outcome 0 acknowledged"));
    (void)desk.take_lines();
    CHECK(desk.propose(2, 2) == Lines{"published 1 as 1"});
}

TEST_CASE("etcd outage: a new coordinator takes over a pending decision and its number (V-2)") {
    if (!support::etcd_program()) return;
    const std::string name_space = fresh_name_space();
    boost::asio::io_context loop;
    {
        Desk first{loop, shared_etcd().url(), in(name_space)};
        first.open();
        (void)first.propose(1, 2);
    }
    Desk second{loop, shared_etcd().url(), in(name_space)};
    second.open();
    CHECK(second.take_lines() == Lines{"restored 0 1/2 published"});
    CHECK(second.propose(3, 3) == Lines{"refused 0 not_ready"});
    second.put(second.keys.acknowledged, "0");
    REQUIRE(second.wait_for_line("outcome 0 acknowledged"));
    (void)second.take_lines();
    CHECK(second.propose(3, 3) == Lines{"published 1 as 1"});
}

TEST_CASE("etcd outage: a store that is wiped is adopted as empty, and numbers go on") {
    if (!support::etcd_program()) return;
    auto server = std::make_unique<support::EtcdServer>();
    const support::EtcdServer empty;
    boost::asio::io_context loop;
    Desk desk{loop, server->url(), in("demo")};
    desk.client = client_of(loop, options_for({server->url(), empty.url()}));
    desk.open();
    (void)desk.propose(1, 1);
    for (int i = 0; i < 20; ++i) desk.put("neighbour", std::to_string(i));
    server.reset();
    REQUIRE(run_until(loop, [&] { return desk.store->stale(); }));
    REQUIRE(run_until(loop, [&] { return !desk.store->stale() && !desk.coordinator->open(); }));
    (void)desk.take_lines();
    CHECK(desk.propose(1, 1) == Lines{"published 1 as 1"});
}

}  // namespace dynaplan::connector
