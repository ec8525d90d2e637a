// Who may write: one leader at a time, a quick take-over, and a store that refuses what an old leader sends.
#include "connector/etcd_leader.hpp"

#include <doctest/doctest.h>

#include "etcd_desk.hpp"

namespace dynaplan::connector {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using port::CommitResult;

EtcdLeaderOptions leading(const std::string& name_space, const std::string& identity,
                          std::chrono::seconds ttl) {
    EtcdLeaderOptions options;
    options.name_space = name_space;
    options.identity = identity;
    options.ttl = ttl;
    options.watch.backoff.first = 10ms;
    options.watch.backoff.max = 50ms;
    return options;
}

// A process that stands by or leads.
struct Candidate {
    Candidate(boost::asio::io_context& l, const std::string& url, const std::string& name_space,
              const std::string& identity, std::chrono::seconds ttl = 10s, int timeout_ms = 5'000)
        : loop{l},
          client{client_of(loop, Desk::client_options(url, timeout_ms))},
          leader{std::make_unique<EtcdLeader>(
              loop, client, leading(name_space, identity, ttl), [] { return 0.0; },
              EtcdLeader::Callbacks{[this](bool leads, const std::string& why) {
                                        told.push_back(leads);
                                        reasons.push_back(why);
                                    },
                                    [this](const std::string& what) { trouble.push_back(what); }})} {
        leader->start();
    }
    bool wait_until_leading() {
        return run_until(loop, [&] { return leader->leads(); });
    }

    boost::asio::io_context& loop;
    net::EtcdClient client;
    std::vector<bool> told;
    Lines reasons;
    Lines trouble;
    std::unique_ptr<EtcdLeader> leader;
};

}  // namespace

TEST_CASE("etcd leader: one of two leads, the other sees who, and takes over at once when it is released") {
    if (!support::etcd_program()) return;
    const std::string name_space = fresh_name_space();
    boost::asio::io_context loop;
    Candidate first{loop, shared_etcd().url(), name_space, "first"};
    REQUIRE(first.wait_until_leading());
    Candidate second{loop, shared_etcd().url(), name_space, "second"};
    REQUIRE(run_until(loop, [&] { return second.leader->holder() == "first"; }));
    CHECK_FALSE(second.leader->leads());
    CHECK_FALSE(second.leader->fence());
    CHECK(first.told == std::vector<bool>{true});
    CHECK(second.told.empty());
    bool released = false;
    first.leader->release(5s, [&] { released = true; });
    CHECK_FALSE(first.leader->leads());
    CHECK(second.wait_until_leading());
    CHECK(released);
    CHECK(second.leader->holder() != "first");
    CHECK(first.leader->counts().lost == 0);
}

TEST_CASE("etcd leader: both begin at once, and exactly one leads") {
    if (!support::etcd_program()) return;
    const std::string name_space = fresh_name_space();
    boost::asio::io_context loop;
    Candidate one{loop, shared_etcd().url(), name_space, "one"};
    Candidate two{loop, shared_etcd().url(), name_space, "two"};
    REQUIRE(run_until(loop, [&] {
        return !one.leader->holder().empty() && one.leader->holder() == two.leader->holder() &&
               (one.leader->leads() || two.leader->leads());
    }));
    CHECK(one.leader->leads() != two.leader->leads());
    CHECK(one.leader->holder() == (one.leader->leads() ? "one" : "two"));
}

TEST_CASE("etcd leader: after a crash the next one leads within the lease's time and a second") {
    if (!support::etcd_program()) return;
    const std::string name_space = fresh_name_space();
    boost::asio::io_context loop;
    auto first = std::make_unique<Candidate>(loop, shared_etcd().url(), name_space, "first", 2s);
    REQUIRE(first->wait_until_leading());
    Candidate second{loop, shared_etcd().url(), name_space, "second", 2s};
    REQUIRE(run_until(loop, [&] { return second.leader->holder() == "first"; }));
    first->leader.reset();  // without a word to etcd
    const auto gone = Clock::now();
    REQUIRE(second.wait_until_leading());
    CHECK(Clock::now() - gone < 3s);
}

TEST_CASE("etcd leader: it takes itself for deposed before its lease can end, and leads again later") {
    if (!support::etcd_program()) return;
    support::EtcdServer server;
    boost::asio::io_context loop;
    Candidate leader{loop, server.url(), "demo", "me", 2s, 500};
    REQUIRE(leader.wait_until_leading());
    const auto before = Clock::now();
    server.freeze();
    REQUIRE(run_until(loop, [&] { return leader.told.size() == 2; }));
    CHECK(Clock::now() - before <= 2s + 200ms);  // the margin is for a busy machine
    CHECK_FALSE(leader.told[1]);
    CHECK(leader.reasons[1].find("no renewal was answered for 2 s") != std::string::npos);
    CHECK_FALSE(leader.leader->fence());
    server.thaw();
    CHECK(leader.wait_until_leading());
    CHECK(leader.leader->counts().lost == 1);
}

TEST_CASE("etcd leader: after an outage longer than its lease it does not wait for the key that it left") {
    if (!support::etcd_program()) return;
    constexpr auto ttl = 3s;
    support::EtcdServer server;
    boost::asio::io_context loop;
    Candidate leader{loop, server.url(), "demo", "me", ttl, 500};
    REQUIRE(leader.wait_until_leading());
    server.stop();
    REQUIRE(run_until(loop, [&] { return leader.told.size() == 2; }));
    // An etcd that starts lets each lease last for its whole time once more.
    server.start();
    const auto back = Clock::now();
    CHECK(leader.wait_until_leading());
    CHECK(Clock::now() - back < ttl);
    CHECK(leader.leader->counts().cleared == 1);
    CHECK(leader.told == std::vector<bool>{true, false, true});
}

TEST_CASE("etcd leader: a lease that etcd takes away, and a key that somebody deletes, end it too") {
    if (!support::etcd_program()) return;
    const std::string name_space = fresh_name_space();
    boost::asio::io_context loop;
    Candidate leader{loop, shared_etcd().url(), name_space, "me", 2s};
    REQUIRE(leader.wait_until_leading());
    const std::string key = EtcdKeys{name_space}.leader;
    const auto pair = net::testing::list(loop, leader.client, {key, {}})->pairs.at(0);
    CHECK(pair.value == "me");
    CHECK(leader.leader->fence()->number == pair.create_revision);
    REQUIRE(net::testing::revoke(loop, leader.client, pair.lease));
    REQUIRE(run_until(loop, [&] { return leader.told.size() == 3; }));
    CHECK(leader.told == std::vector<bool>{true, false, true});
    net::EtcdTransaction t;
    t.success.emplace_back(net::EtcdDelete{{key, {}}});
    REQUIRE(net::testing::transact(loop, leader.client, t));
    REQUIRE(run_until(loop, [&] { return leader.told.size() == 5; }));
    CHECK(leader.reasons[3] == "the leader key was deleted");
    CHECK(leader.leader->leads());
}

TEST_CASE("etcd leader: what an old leader writes late is refused by the store") {
    if (!support::etcd_program()) return;
    const std::string name_space = fresh_name_space();
    boost::asio::io_context loop;
    Candidate old_one{loop, shared_etcd().url(), name_space, "old"};
    REQUIRE(old_one.wait_until_leading());
    // It thinks that it leads for as long as this says so, as one does whose clock or process was stopped.
    auto fence = old_one.leader->fence();
    EtcdStoreOptions options = in(name_space);
    options.fence = [&] { return fence; };
    Desk desk{loop, shared_etcd().url(), options};
    desk.open();
    CHECK(desk.propose(1, 1) == Lines{"published 0 as 0"});

    old_one.leader.reset();
    const std::string key = desk.keys.leader;
    REQUIRE(net::testing::revoke(loop, desk.client, desk.pair(key)->lease));
    Candidate new_one{loop, shared_etcd().url(), name_space, "new"};
    REQUIRE(new_one.wait_until_leading());
    CHECK(desk.propose(2, 2, true) == Lines{"refused 1 store"});
    CHECK(desk.fenced == 1);
    CHECK(desk.store->counts().fenced == 1);
    CHECK(desk.results.back() == CommitResult::failed);
    CHECK(desk.value(desk.keys.prefill) == "1");
    // Without a fence it does not even ask.
    fence.reset();
    const auto asked = desk.client.counts().requests;
    CHECK(desk.propose(2, 2, true) == Lines{"refused 2 store"});
    CHECK(desk.store->trouble() == "etcd: this process does not lead, and writes nothing");
    CHECK(desk.client.counts().requests == asked);
    // Nor does it take leases off keys.
    const auto lease = net::testing::grant(loop, desk.client, 60s).lease;
    desk.put(desk.keys.prefill, "1", lease);
    desk.restore();
    CHECK(desk.pair(desk.keys.prefill)->lease == lease);
}

TEST_CASE("etcd leader: a store that is away is tried again until it is there") {
    if (!support::etcd_program()) return;
    support::EtcdServer server;
    server.stop();
    boost::asio::io_context loop;
    Candidate leader{loop, server.url(), "demo", "me"};
    REQUIRE(run_until(loop, [&] { return leader.trouble.size() >= 2; }));
    CHECK(leader.trouble[0].starts_with("the leader key is not watched: "));
    server.start();
    CHECK(leader.wait_until_leading());
}

}  // namespace dynaplan::connector
