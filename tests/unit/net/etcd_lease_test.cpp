// A lease against a real etcd: kept, lost, given up.
#include "net/etcd_lease.hpp"

#include <doctest/doctest.h>

#include "net/etcd_host.hpp"

using namespace dynaplan;
using namespace dynaplan::net;
using namespace dynaplan::net::testing;
using namespace std::chrono_literals;
using support::EtcdServer;
using Clock = std::chrono::steady_clock;

namespace {

struct Told {
    std::optional<EtcdGrant> granted;
    std::vector<std::string> refused;
    std::vector<std::string> lost;

    EtcdLease::Callbacks callbacks() {
        return {[this](const EtcdGrant& grant) { granted = grant; },
                [this](const std::string& why) { refused.push_back(why); },
                [this](const std::string& why) { lost.push_back(why); }};
    }
};

std::optional<std::chrono::seconds> left(asio::io_context& loop, EtcdClient& client, std::int64_t lease) {
    const auto time =
        awaited<EtcdResult<EtcdLeaseTime>>(loop, [&](auto done) { client.lease_time(lease, done); });
    REQUIRE(time);
    return time->left;
}

}  // namespace

TEST_CASE("etcd lease: it is renewed at a third of its time, and outlives it") {
    if (!support::etcd_program()) return;
    const EtcdServer server;
    asio::io_context loop;
    EtcdClient client = client_of(loop, options_for({server.url()}));
    Told told;
    EtcdLease lease{loop, client, told.callbacks()};
    CHECK_FALSE(lease.held());
    lease.start(1s);
    REQUIRE(run_until(loop, [&] { return told.granted.has_value(); }));
    // etcd grants no less than what an election takes: the granted time is the one that counts.
    const auto ttl = told.granted->ttl;
    const auto begun = Clock::now();
    REQUIRE(run_until(loop, [&] { return Clock::now() > begun + ttl + 700ms; }));
    CHECK(lease.held() == told.granted->lease);
    CHECK(lease.counts().renewals >= 3);
    CHECK(lease.counts().failures == 0);
    CHECK(left(loop, client, told.granted->lease));
    CHECK(told.lost.empty());
}

TEST_CASE("etcd lease: it is lost when etcd says so, and another may be asked for") {
    if (!support::etcd_program()) return;
    const EtcdServer server;
    asio::io_context loop;
    EtcdClient client = client_of(loop, options_for({server.url()}));
    Told told;
    EtcdLease lease{loop, client, told.callbacks()};
    lease.start(2s);
    REQUIRE(run_until(loop, [&] { return told.granted.has_value(); }));
    const auto first = told.granted->lease;
    REQUIRE(revoke(loop, client, first));
    REQUIRE(run_until(loop, [&] { return !told.lost.empty(); }));
    CHECK_FALSE(lease.held());
    CHECK(told.lost ==
          std::vector<std::string>{"lease " + std::to_string(first) + " is lost: etcd no longer has it"});
    lease.start(2s);
    REQUIRE(run_until(loop, [&] { return told.granted->lease != first; }));
    CHECK(lease.held());
}

TEST_CASE("etcd lease: without answers it is lost by this machine's own clock, within its time") {
    if (!support::etcd_program()) return;
    EtcdServer server;
    asio::io_context loop;
    EtcdClient client = client_of(loop, options_for({server.url()}));
    Told told;
    EtcdLease lease{loop, client, told.callbacks()};
    lease.start(2s);
    REQUIRE(run_until(loop, [&] { return told.granted.has_value(); }));
    const auto granted = Clock::now();
    server.freeze();
    REQUIRE(run_until(loop, [&] { return !told.lost.empty(); }));
    const auto passed = Clock::now() - granted;
    CHECK(passed <= told.granted->ttl + 200ms);  // the margin is for a busy machine
    CHECK(passed > told.granted->ttl - 500ms);
    CHECK_FALSE(lease.held());
    CHECK(lease.counts().failures >= 1);
    server.thaw();
}

TEST_CASE("etcd lease: it survives a restart of the server that is shorter than its time") {
    if (!support::etcd_program()) return;
    EtcdServer server;
    asio::io_context loop;
    EtcdClient client = client_of(loop, options_for({server.url()}));
    Told told;
    EtcdLease lease{loop, client, told.callbacks()};
    lease.start(6s);
    REQUIRE(run_until(loop, [&] { return told.granted.has_value(); }));
    server.stop();
    server.start();
    const auto before = lease.counts().renewals;
    REQUIRE(run_until(loop, [&] { return lease.counts().renewals > before; }));
    CHECK(lease.held() == told.granted->lease);
    CHECK(told.lost.empty());
}

TEST_CASE("etcd lease: given up it is gone at once, and the wait for that is bounded") {
    if (!support::etcd_program()) return;
    EtcdServer server;
    asio::io_context loop;
    EtcdClient client = client_of(loop, options_for({server.url()}));
    Told told;
    EtcdLease lease{loop, client, told.callbacks()};
    lease.start(60s);
    REQUIRE(run_until(loop, [&] { return told.granted.has_value(); }));
    int said = 0;
    lease.revoke(5s, [&] { ++said; });
    CHECK_FALSE(lease.held());
    REQUIRE(run_until(loop, [&] { return said == 1; }));
    CHECK_FALSE(left(loop, client, told.granted->lease));

    told.granted.reset();
    lease.start(60s);
    REQUIRE(run_until(loop, [&] { return told.granted.has_value(); }));
    server.freeze();
    lease.revoke(100ms, [&] { ++said; });
    REQUIRE(run_until(loop, [&] { return said == 2; }));
    server.thaw();
    lease.revoke(100ms, [&] { ++said; });  // there is none
    REQUIRE(run_until(loop, [&] { return said == 3; }));
    CHECK(told.lost.empty());
}

TEST_CASE("etcd lease: a store that is away refuses it") {
    asio::io_context loop;
    EtcdClient client =
        client_of(loop, options_for({"http://127.0.0.1:" + std::to_string(support::free_port())}));
    Told told;
    EtcdLease lease{loop, client, told.callbacks()};
    lease.start(2s);
    REQUIRE(run_until(loop, [&] { return !told.refused.empty(); }));
    CHECK_FALSE(lease.held());
}
