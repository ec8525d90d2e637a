// What the tests of the etcd store share: an etcd, and a coordinator on a store in it, driven by hand.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "connector/etcd_keys.hpp"
#include "connector/etcd_store.hpp"
#include "decision/coordinator.hpp"
#include "net/etcd_host.hpp"

namespace dynaplan::connector {

using net::testing::awaited;
using net::testing::client_of;
using net::testing::options_for;
using net::testing::run_ready;
using net::testing::run_until;

// For tests that leave the server as it is. It is started by the first, and ends with the program.
inline support::EtcdServer& shared_etcd() {
    static support::EtcdServer server;
    return server;
}

inline std::string fresh_name_space() {
    static int number = 0;
    return "test-" + std::to_string(number++);
}

// An event in a few words: "published 3 as 0", "refused 4 not_ready", "outcome 0 acknowledged",
// "restored 0 2/5 published". An absent count reads "-".
inline std::string text_of(const Event& event) {
    const auto count = [](const std::optional<Replicas>& n) { return n ? std::to_string(n->count()) : "-"; };
    if (const auto* e = std::get_if<DecisionPublished>(&event.body))
        return "published " + std::to_string(e->proposal) + " as " + std::to_string(e->decision_id);
    if (const auto* e = std::get_if<DecisionRefused>(&event.body))
        return "refused " + std::to_string(e->proposal) + " " + std::string{to_string(e->reason)};
    if (const auto* e = std::get_if<DecisionOutcome>(&event.body))
        return "outcome " + std::to_string(e->decision_id) + " " + std::string{to_string(e->outcome)};
    if (const auto* e = std::get_if<DecisionRestored>(&event.body))
        return "restored " + std::to_string(e->decision_id) + " " + count(e->prefill) + "/" +
               count(e->decode) + " " + std::string{to_string(e->state)};
    return "something else";
}

using Lines = std::vector<std::string>;

// A planner's end of the store, as the runtime wires it: answers and observations go to the coordinator, and
// what it says is kept as lines.
struct Desk {
    Desk(boost::asio::io_context& l, const std::string& url, EtcdStoreOptions options, int timeout_ms = 5'000)
        : loop{l}, keys{options.name_space}, client{client_of(loop, client_options(url, timeout_ms))} {
        options.watch.backoff.first = std::chrono::milliseconds{10};  // tests need not wait
        options.watch.backoff.max = std::chrono::milliseconds{50};
        store.emplace(
            loop, client, options, [] { return 0.0; }, callbacks());
        coordinator.emplace(*store, config);
    }

    static net::EtcdOptions client_options(const std::string& url, int timeout_ms) {
        net::EtcdOptions out = options_for({url});
        out.request_timeout = std::chrono::milliseconds{timeout_ms};
        return out;
    }

    EtcdStore::Callbacks callbacks() {
        return {[this](const port::ReadAnswer& answer) { keep(coordinator->read_answered(answer, now)); },
                [this](const port::CommitAnswer& answer) {
                    results.push_back(answer.result);
                    keep(coordinator->commit_answered(answer, now));
                },
                [this](const port::StoredState& state) { keep(coordinator->observe(state, now, 0)); },
                [this](const std::string& why) {
                    if (!why.empty()) breaks.push_back(why);
                },
                [this] { ++fenced; }};
    }

    void keep(const decision::Events& events) {
        for (const Event& event : events) lines.push_back(text_of(event));
    }
    Lines take_lines() { return std::exchange(lines, {}); }

    // Reads the store and watches it.
    void open() {
        store->start();
        REQUIRE(run_until(loop, [&] { return !store->stale(); }));
        restore();
    }
    void restore() {
        keep(coordinator->restore(now, 0));
        REQUIRE(run_until(loop, [&] { return coordinator->restored(); }));
    }

    // The lines up to what became of this proposal.
    Lines propose(std::optional<int> prefill, std::optional<int> decode, bool cancels = false) {
        ScaleTo want;
        want.proposal = proposals++;
        if (prefill) want.prefill = Replicas{*prefill};
        if (decode) want.decode = Replicas{*decode};
        want.reason = Reason::scale_up;
        want.cancels = cancels;
        if (store->stale()) coordinator->doubt();  // V-12
        keep(coordinator->propose(want, now, 0, "{}"));
        const std::string number = " " + std::to_string(want.proposal) + " ";
        REQUIRE(run_until(loop, [&] {
            return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
                return line.starts_with("published" + number) || line.starts_with("refused" + number);
            });
        }));
        return take_lines();
    }

    decision::Settlement complete(DecisionId id) {
        decision::Settlement answer = coordinator->complete(id, now);
        keep(answer.events);
        if (answer.status != decision::Settlement::Status::deferred) return answer;
        std::vector<decision::Settlement> settled;
        REQUIRE(run_until(loop, [&] { return !(settled = coordinator->take_settled()).empty(); }));
        return settled.front();
    }

    // What anyone else does with etcd: plain requests.
    void put(const std::string& key, const std::string& value, std::int64_t lease = 0) {
        net::testing::put(loop, client, key, value, lease);
    }
    void erase(const std::string& key) {
        net::EtcdTransaction t;
        t.success.emplace_back(net::EtcdDelete{{key, {}}});
        REQUIRE(net::testing::transact(loop, client, t));
    }
    std::optional<net::EtcdPair> pair(const std::string& key) {
        const auto listing = net::testing::list(loop, client, {key, {}});
        REQUIRE(listing);
        return listing->pairs.empty() ? std::nullopt : std::optional{listing->pairs.front()};
    }
    std::string value(const std::string& key) {
        const auto found = pair(key);
        return found ? found->value : "(absent)";
    }
    bool wait_for_line(const std::string& line) {
        return run_until(loop, [&] { return std::find(lines.begin(), lines.end(), line) != lines.end(); });
    }

    boost::asio::io_context& loop;
    EtcdKeys keys;
    net::EtcdClient client;
    decision::CoordinatorConfig config{.timeout_from = decision::TimeoutFrom::first_refusal};
    std::optional<EtcdStore> store;
    std::optional<decision::Coordinator> coordinator;
    TimePoint now = at_seconds(0);
    ProposalId proposals = 0;
    Lines lines;
    std::vector<port::CommitResult> results;
    Lines breaks;
    int fenced = 0;
};

inline EtcdStoreOptions in(const std::string& name_space) {
    EtcdStoreOptions options;
    options.name_space = name_space;
    return options;
}

}  // namespace dynaplan::connector
