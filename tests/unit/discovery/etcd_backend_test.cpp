// A real etcd, which each case starts for itself. Workers are played by keys on leases, as theirs are.
#include "discovery/etcd_backend.hpp"

#include <algorithm>

#include "net/etcd_host.hpp"
#include "seen.hpp"

using namespace dynaplan;
using namespace dynaplan::discovery;
using namespace dynaplan::net::testing;
using namespace std::chrono_literals;
using support::EtcdServer;

namespace {

const std::string key = card_key("backend", 7);
const std::string april = "v1/event_channels/dynamo/backend/forward-pass-metrics/7";
const std::string august =
    "v1/event_channels/namespace/dynamo/component/prefill/endpoint/generate/topic/forward-pass-metrics/1790f";

std::string august_value(std::string_view url) {
    return R"({"type":"EventChannel","scope":{"kind":"endpoint","endpoint":{"namespace":"dynamo",)"
           R"("component":"prefill","name":"generate"}},"topic":"forward-pass-metrics",)"
           R"("instance_id":96527,"transport":)" +
           zmq(url) + "}";
}

struct Rig {
    explicit Rig(RosterOptions options = {*default_scope({}, "vllm", Mode::disagg), {}, {}, {}})
        : rig{std::move(options)} {}

    void open() {
        EtcdBackendOptions options;
        options.backoff.first = 10ms;  // tests need not wait
        options.backoff.max = 100ms;
        options.random = [] { return 0.0; };
        options.on_state = [this](const SourceState& state) { states.push_back(state); };
        backend = std::make_unique<EtcdBackend>(loop, client, std::move(options), rig.roster);
    }
    void open_and_list() {
        open();
        until([&] { return backend->state() == SourceState{true, false, ""}; });
    }
    void until(const std::function<bool()>& condition) { REQUIRE(run_until(loop, condition)); }
    void until_events(const Lines& lines) {
        until([&] { return rig.events.lines.size() >= lines.size(); });
        CHECK(rig.events.taken() == lines);
    }
    void erase(const std::string& which) {
        net::EtcdTransaction t;
        t.success = {net::EtcdDelete{{which, ""}}};
        REQUIRE(transact(loop, client, t));
    }

    EtcdServer server;
    asio::io_context loop;
    net::EtcdClient client = client_of(loop, options_for({server.url()}));
    RosterRig rig;
    std::vector<SourceState> states;
    std::unique_ptr<EtcdBackend> backend;
};

}  // namespace

TEST_SUITE("integration") {
    TEST_CASE("etcd backend: what is registered is found, then every change, in both layouts") {
        if (!support::etcd_program()) return;
        Rig r;
        put(r.loop, r.client, key, card_value(7));
        put(r.loop, r.client, april, april_channel_value(zmq("tcp://h:1")));
        r.open_and_list();
        CHECK(r.rig.events.taken() == Lines{"+decode 7.0"});
        CHECK(r.rig.channels.taken() == Lines{"+tcp://h:1 decode"});
        put(r.loop, r.client, august, august_value("tcp://h:2"));
        put(r.loop, r.client, card_key("prefill", 8), card_value(8, R"("data_parallel_size":2)"));
        r.until_events({"+prefill 8.0", "+prefill 8.1"});
        r.until([&] { return r.rig.channels.lines == Lines{"+tcp://h:2 prefill"}; });
        put(r.loop, r.client, key, card_value(7, R"("max_num_seqs":5)"));
        r.until_events({"+decode 7.0"});
        CHECK(r.rig.events.capabilities["7"].max_num_seqs == 5);
        put(r.loop, r.client, key, "torn");  // and the worker stays
        r.until([&] { return r.rig.refused("bad_value") == 1; });
        r.rig.channels.taken();
        r.erase(key);
        r.until_events({"-decode 7.0"});
        r.erase(august);
        r.until([&] { return r.rig.channels.lines == Lines{'-' + august}; });
        CHECK(r.states.size() == 1);
        CHECK(r.backend->counts().breaks == 0);
    }

    TEST_CASE("etcd backend: neighbours whose names begin alike do not count, others are named") {
        if (!support::etcd_program()) return;
        Rig r;
        put(r.loop, r.client, "v1/mdc/dynamo2/backend/generate/1", card_value(1));
        put(r.loop, r.client, card_key("backend2", 2), card_value(2));
        put(r.loop, r.client, "v1/mdc/dynamo/backend/generate2/3", card_value(3));
        put(r.loop, r.client, "v1/event_channels/dynamo2/backend/forward-pass-metrics/1",
            april_channel_value(zmq("tcp://h:1")));
        r.open_and_list();
        put(r.loop, r.client, card_key("backend", 7), card_value(7));
        r.until_events({"+decode 7.0"});
        CHECK(r.rig.channels.taken().empty());
        CHECK(r.rig.roster.state().remarks ==
              Lines{"discovery: no prefill worker is registered under dynamo/prefill/generate; others are "
                    "under dynamo/backend/generate2 dynamo/backend2/generate"});
    }

    TEST_CASE("etcd backend: a worker goes when its lease ends, at once when it is given back") {
        if (!support::etcd_program()) return;
        Rig r;
        const auto kept = grant(r.loop, r.client, std::chrono::seconds{60});
        const auto lost = grant(r.loop, r.client, std::chrono::seconds{1});
        put(r.loop, r.client, card_key("backend", 1), card_value(1), kept.lease);
        put(r.loop, r.client, card_key("backend", 2), card_value(2), lost.lease);
        r.open_and_list();
        CHECK(r.rig.events.taken() == Lines{"+decode 1.0", "+decode 2.0"});
        r.until_events({"-decode 2.0"});
        REQUIRE(revoke(r.loop, r.client, kept.lease));
        r.until_events({"-decode 1.0"});
        CHECK(r.backend->counts().breaks == 0);
    }

    TEST_CASE("etcd backend: while the store is away its workers stay, then the difference is told") {
        if (!support::etcd_program()) return;
        Rig r;
        put(r.loop, r.client, card_key("backend", 1), card_value(1));
        put(r.loop, r.client, card_key("backend", 2), card_value(2));
        put(r.loop, r.client, april, april_channel_value(zmq("tcp://h:1")));
        r.open_and_list();
        r.rig.events.taken();
        r.rig.channels.taken();
        r.server.kill();
        r.until([&] { return r.backend->counts().breaks >= 6; });  // each prefix tried again
        CHECK(r.backend->state().stale);
        CHECK(r.backend->state().complete);
        CHECK(r.backend->state().reason.find(r.server.url()) != std::string::npos);
        CHECK(r.rig.roster.role_of("1") == Role::decode);
        CHECK(r.rig.events.taken().empty());
        r.server.start();
        // What changes before anybody watches again, and is compacted then.
        asio::io_context other;
        net::EtcdClient neighbour = client_of(other, options_for({r.server.url()}));
        net::EtcdTransaction t;
        t.success = {net::EtcdDelete{{card_key("backend", 1), ""}}, net::EtcdDelete{{april, ""}},
                     net::EtcdPut{card_key("backend", 3), card_value(3)}};
        const auto changed = transact(other, neighbour, t);
        REQUIRE(changed);
        compact(other, r.server.url(), changed->revision);
        r.until([&] { return !r.backend->state().stale; });
        CHECK(r.rig.events.taken() == Lines{"+decode 3.0", "-decode 1.0"});
        CHECK(r.rig.channels.taken() == Lines{'-' + april});
        put(r.loop, r.client, card_key("backend", 4), card_value(4));
        r.until_events({"+decode 4.0"});
    }

    TEST_CASE("etcd backend: a compaction under a standing watch is nothing") {
        if (!support::etcd_program()) return;
        Rig r;
        r.open_and_list();
        for (int i = 0; i < 5; ++i) put(r.loop, r.client, "neighbour", std::to_string(i));
        compact(r.loop, r.server.url(), list(r.loop, r.client, {"x", ""})->revision);
        put(r.loop, r.client, key, card_value(7));
        r.until_events({"+decode 7.0"});
        CHECK(r.backend->counts().listings == 3);
    }

    TEST_CASE("etcd backend: a store that comes later is waited for, and says so") {
        if (!support::etcd_program()) return;
        Rig r;
        put(r.loop, r.client, key, card_value(7));
        r.server.stop();
        r.open();
        CHECK(r.backend->state().stale);
        CHECK_FALSE(r.backend->state().complete);
        CHECK(r.backend->state().reason == "discovery: " + r.server.url() + ": etcd has not answered yet");
        r.until([&] { return r.backend->counts().breaks >= 3; });
        CHECK_FALSE(r.backend->state().complete);
        r.server.start();
        r.until([&] { return r.backend->state() == SourceState{true, false, ""}; });
        CHECK(r.rig.events.taken() == Lines{"+decode 7.0"});
    }

    TEST_CASE("etcd backend: names with odd bytes are found, encoded or not") {
        if (!support::etcd_program()) return;
        Rig r{RosterOptions{Scope{"ns.öne", {{}, {{"worker *", "gen%2E"}}}}, {}, {}, {}}};
        put(r.loop, r.client, "v1/mdc/ns.öne/worker */gen%2E/fFfFfFfFfFfFfFfF", card_value(1));
        put(r.loop, r.client,
            "v1/event_channels/namespace/ns%2E%C3%B6ne/component/worker%20%2A/endpoint/gen%252E/topic/"
            "forward-pass-metrics/2a",
            R"({"type":"EventChannel","scope":{"kind":"endpoint","endpoint":{"namespace":"ns.öne",)"
            R"("component":"worker *","name":"gen%2E"}},"topic":"forward-pass-metrics","instance_id":42,)"
            R"("transport":)" +
                zmq("tcp://h:1") + "}");
        put(r.loop, r.client, "v1/event_channels/ns.öne/worker */forward-pass-metrics/2b",
            R"({"type":"EventChannel","namespace":"ns.öne","component":"worker *",)"
            R"("topic":"forward-pass-metrics","instance_id":43,"transport":)" +
                zmq("tcp://h:2") + "}");
        r.open_and_list();
        CHECK(r.rig.events.taken() == Lines{"+decode 18446744073709551615.0"});
        Lines channels = r.rig.channels.taken();
        std::sort(channels.begin(), channels.end());
        CHECK(channels == Lines{"+tcp://h:1 decode", "+tcp://h:2 decode"});
        CHECK(r.rig.roster.counts().id_mismatches == 1);
    }

    TEST_CASE("etcd backend: it may be closed while it waits, lists or watches") {
        if (!support::etcd_program()) return;
        Rig r;
        put(r.loop, r.client, key, card_value(7));
        r.open();
        r.backend.reset();
        run_ready(r.loop);
        r.open_and_list();
        CHECK(r.rig.events.taken() == Lines{"+decode 7.0"});
        r.backend.reset();
        r.erase(key);
        r.server.kill();
        r.open();
        r.until([&] { return r.backend->counts().breaks >= 3; });
        r.backend.reset();
        run_ready(r.loop);
        CHECK(r.rig.events.taken().empty());
    }
}
