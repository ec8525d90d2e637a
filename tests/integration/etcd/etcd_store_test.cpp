// What only the etcd store has to do: the keys of existing clients, and a store that others write too.
#include "connector/etcd_store.hpp"

#include <doctest/doctest.h>

#include "connector/etcd_picture.hpp"
#include "etcd_desk.hpp"

namespace dynaplan::connector {

namespace {

using port::CommitResult;
using Status = decision::Settlement::Status;

struct Fresh {
    std::string name_space = fresh_name_space();
    boost::asio::io_context loop;
    Desk desk{loop, shared_etcd().url(), in(name_space)};
};

}  // namespace

TEST_CASE("etcd store: a decision stands under the keys of the contract, without a lease, in one revision") {
    if (!support::etcd_program()) return;
    Fresh f;
    f.desk.open();
    CHECK(f.desk.propose(3, 5) == Lines{"published 0 as 0"});
    const std::string root = "v1/" + f.name_space + "/planner/";
    const auto listing = net::testing::list(f.loop, f.desk.client, net::etcd_prefix(root));
    REQUIRE(listing);
    REQUIRE(listing->pairs.size() == 3);
    const std::vector<std::pair<std::string, std::string>> wanted{
        {root + "decision_id", "0"}, {root + "num_decode_workers", "5"}, {root + "num_prefill_workers", "3"}};
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        CHECK(listing->pairs[i].key == wanted[i].first);
        CHECK(listing->pairs[i].value == wanted[i].second);
        CHECK(listing->pairs[i].lease == 0);
        CHECK(listing->pairs[i].mod_revision == listing->pairs[0].mod_revision);
    }
    // Of our own keys none ends like one of theirs, and all are outside their root.
    const auto own =
        net::testing::list(f.loop, f.desk.client, net::etcd_prefix("v1/" + f.name_space + "/dynaplan/"));
    REQUIRE(own);
    REQUIRE(own->pairs.size() == 1);
    CHECK(own->pairs[0].key == "v1/" + f.name_space + "/dynaplan/decisions/0000000000000000000");
    CHECK(own->pairs[0].mod_revision == listing->pairs[0].mod_revision);
}

TEST_CASE("etcd store: a client's plain acknowledgement wakes the coordinator, and frees the next decision") {
    if (!support::etcd_program()) return;
    Fresh f;
    f.desk.open();
    (void)f.desk.propose(1, 1);
    CHECK(f.desk.propose(2, 1) == Lines{"refused 1 not_ready"});
    f.desk.put(f.desk.keys.acknowledged, "0");
    CHECK(f.desk.wait_for_line("outcome 0 acknowledged"));
    (void)f.desk.take_lines();
    CHECK(f.desk.propose(2, {}) == Lines{"published 2 as 1"});
    CHECK(f.desk.value(f.desk.keys.prefill) == "2");
    CHECK(f.desk.value(f.desk.keys.decode) == "1");
    // The record of the decision before says what the client's key said, which may go with the client.
    f.desk.erase(f.desk.keys.acknowledged);
    CHECK(run_until(f.loop, [&] { return !f.desk.store->seen().acknowledged; }));
    CHECK(f.desk.store->seen().records.at(0).state == DecisionState::acknowledged);
}

TEST_CASE("etcd store: an acknowledgement that goes makes the decision open again") {
    if (!support::etcd_program()) return;
    Fresh f;
    f.desk.open();
    (void)f.desk.propose(1, 1);
    const auto lease = net::testing::grant(f.loop, f.desk.client, std::chrono::seconds{60}).lease;
    f.desk.put(f.desk.keys.acknowledged, "0", lease);
    REQUIRE(f.desk.wait_for_line("outcome 0 acknowledged"));
    REQUIRE(net::testing::revoke(f.loop, f.desk.client, lease));  // the client stops
    CHECK(f.desk.wait_for_line("restored 0 1/1 published"));
    CHECK(f.desk.coordinator->open());
    // The same where our own complete() had written it.
    CHECK(f.desk.complete(0).status == Status::done);
    CHECK(f.desk.value(f.desk.keys.acknowledged) == "0");
    f.desk.erase(f.desk.keys.acknowledged);
    CHECK(run_until(f.loop, [&] { return f.desk.coordinator->open() != nullptr; }));
}

TEST_CASE("etcd store: complete raises the acknowledgement and never lowers it") {
    if (!support::etcd_program()) return;
    Fresh f;
    f.desk.open();
    (void)f.desk.propose(1, 1);
    // A client writes while our transaction is made: it is judged again.
    f.desk.put(f.desk.keys.acknowledged, "-1");
    CHECK(f.desk.complete(0).status == Status::done);
    CHECK(f.desk.value(f.desk.keys.acknowledged) == "0");
    f.desk.put(f.desk.keys.acknowledged, "41");
    REQUIRE(run_until(f.loop, [&] { return f.desk.store->seen().acknowledged == 41; }));
    CHECK(f.desk.store->counts().future_acknowledgements == 1);
    // Ids go on behind it, and ours does not take it back.
    (void)f.desk.take_lines();
    CHECK(f.desk.propose(2, 2) == Lines{"published 1 as 42"});
    f.desk.put(f.desk.keys.acknowledged, "50");
    port::Transaction t;
    t.acknowledged = 42;
    REQUIRE(run_until(f.loop, [&] { return f.desk.store->seen().current == 42; }));
    t.expected_revision = f.desk.store->seen().revision;
    REQUIRE_FALSE(f.desk.store->commit(t));
    const auto before = f.desk.results.size();
    REQUIRE(run_until(f.loop, [&] { return f.desk.results.size() > before; }));
    CHECK(f.desk.results.back() == CommitResult::ok);
    CHECK(f.desk.value(f.desk.keys.acknowledged) == "50");
}

TEST_CASE("etcd store: keys that a reference coordinator left on its lease are taken off it") {
    if (!support::etcd_program()) return;
    Fresh f;
    const auto lease = net::testing::grant(f.loop, f.desk.client, std::chrono::seconds{60}).lease;
    f.desk.put(f.desk.keys.prefill, "2", lease);
    f.desk.put(f.desk.keys.decode, "4", lease);
    f.desk.put(f.desk.keys.current, "7", lease);
    f.desk.put(f.desk.keys.acknowledged, "7", lease);
    f.desk.open();
    CHECK(f.desk.take_lines() == Lines{"restored 7 2/4 acknowledged"});
    CHECK(f.desk.store->counts().detached == 3);
    for (const std::string& key : {f.desk.keys.prefill, f.desk.keys.decode, f.desk.keys.current})
        CHECK(f.desk.pair(key)->lease == 0);
    CHECK_MESSAGE(f.desk.pair(f.desk.keys.acknowledged)->lease == lease, "this one is the client's");
    REQUIRE(net::testing::revoke(f.loop, f.desk.client, lease));  // the old coordinator is gone for good
    CHECK(f.desk.value(f.desk.keys.current) == "7");
    CHECK(f.desk.value(f.desk.keys.prefill) == "2");
    // No acknowledgement any more: the decision is pending again, and the next one has the next number.
    REQUIRE(f.desk.wait_for_line("restored 7 2/4 published"));
    CHECK(f.desk.complete(7).status == Status::done);
    (void)f.desk.take_lines();
    CHECK(f.desk.propose(3, 4) == Lines{"published 0 as 8"});
}

TEST_CASE("etcd store: what another coordinator writes is adopted (V-8)") {
    if (!support::etcd_program()) return;
    Fresh f;
    f.desk.open();
    (void)f.desk.propose(1, 1);
    (void)f.desk.complete(0);
    (void)f.desk.take_lines();
    net::EtcdTransaction t;
    t.success = {net::EtcdPut{f.desk.keys.prefill, "6"}, net::EtcdPut{f.desk.keys.decode, "7"},
                 net::EtcdPut{f.desk.keys.current, "9"}};
    REQUIRE(net::testing::transact(f.loop, f.desk.client, t));
    CHECK(f.desk.wait_for_line("restored 9 6/7 published"));
    (void)f.desk.take_lines();
    CHECK(f.desk.propose(1, 1) == Lines{"refused 1 not_ready"});
    f.desk.put(f.desk.keys.acknowledged, "9");
    REQUIRE(f.desk.wait_for_line("outcome 9 acknowledged"));
    (void)f.desk.take_lines();
    CHECK(f.desk.propose(1, 1) == Lines{"published 2 as 10"});
    // Unseen, the guard finds it: the other's decision is pending, so ours has to wait.
    f.desk.put(f.desk.keys.acknowledged, "10");
    REQUIRE(f.desk.wait_for_line("outcome 10 acknowledged"));
    (void)f.desk.take_lines();
    t.success = {net::EtcdPut{f.desk.keys.prefill, "8"}, net::EtcdPut{f.desk.keys.current, "11"}};
    {
        boost::asio::io_context elsewhere;  // so that our own loop stands still meanwhile
        net::EtcdClient rival = client_of(elsewhere, options_for({shared_etcd().url()}));
        REQUIRE(net::testing::transact(elsewhere, rival, t));
    }
    const Lines lines = f.desk.propose(2, 2);
    CHECK(lines.back() == "refused 3 not_ready");
    CHECK(f.desk.value(f.desk.keys.prefill) == "8");
}

TEST_CASE(
    "etcd store: a foreign coordinator that counts from 0 again is not taken for our own old decision") {
    if (!support::etcd_program()) return;
    Fresh f;
    f.desk.open();
    (void)f.desk.propose(1, 1);
    (void)f.desk.complete(0);
    (void)f.desk.take_lines();
    net::EtcdTransaction t;
    t.success = {net::EtcdPut{f.desk.keys.prefill, "6"}, net::EtcdPut{f.desk.keys.decode, "7"},
                 net::EtcdPut{f.desk.keys.current, "0"}, net::EtcdPut{f.desk.keys.acknowledged, "-1"}};
    REQUIRE(net::testing::transact(f.loop, f.desk.client, t));
    REQUIRE(run_until(f.loop, [&] { return f.desk.store->seen().prefill == Replicas{6}; }));
    CHECK(f.desk.store->seen().records.empty());
    REQUIRE(run_until(f.loop, [&] { return f.desk.coordinator->open() != nullptr; }));
    CHECK(f.desk.coordinator->open()->prefill == Replicas{6});
    CHECK(f.desk.coordinator->next_id() == 1);
}

TEST_CASE("etcd store: deleted keys count as never set, and numbers go on (V-3, V-8)") {
    if (!support::etcd_program()) return;
    Fresh f;
    f.desk.open();
    (void)f.desk.propose(1, 2);
    (void)f.desk.complete(0);
    f.desk.erase(f.desk.keys.current);
    f.desk.erase(f.desk.keys.prefill);
    REQUIRE(run_until(f.loop, [&] {
        const auto seen = f.desk.store->seen();
        return !seen.current && !seen.prefill && seen.revision == 0;
    }));
    (void)f.desk.take_lines();
    CHECK(f.desk.propose(1, {}) == Lines{"published 1 as 1"});
    CHECK(f.desk.value(f.desk.keys.current) == "1");
    CHECK(f.desk.value(f.desk.keys.decode) == "2");
}

TEST_CASE("etcd store: a value that is no number counts as not set, and is remarked on once") {
    if (!support::etcd_program()) return;
    Fresh f;
    f.desk.put(f.desk.keys.prefill, "3 ");
    f.desk.put(f.desk.keys.decode, "+4");
    f.desk.put(f.desk.keys.current, "x\n");
    f.desk.put(f.desk.keys.acknowledged, "99999999999999999999");
    f.desk.put(f.desk.keys.record(3), "{}");
    f.desk.open();
    const auto seen = f.desk.store->seen();
    CHECK_FALSE(seen.prefill);
    CHECK(seen.decode == Replicas{4});
    CHECK_FALSE(seen.current);
    CHECK_FALSE(seen.acknowledged);
    CHECK(seen.revision != 0);  // it is there, so a write has to be guarded by it
    CHECK(seen.records.empty());
    const auto remarks = f.desk.store->take_remarks();
    REQUIRE(remarks.size() == 4);
    CHECK(remarks[0] ==
          "etcd: " + f.desk.keys.record(3) + " = \"{}\" has no usable 'decision_id', and is passed over");
    CHECK(remarks[1] == "etcd: " + f.desk.keys.current + " = \"x?\" is no number, and counts as not set");
    f.desk.restore();
    CHECK(f.desk.store->take_remarks().empty());
    CHECK(f.desk.propose(1, 1) == Lines{"published 0 as 0"});
    CHECK(f.desk.store->seen().revision != 0);
}

TEST_CASE("etcd store: numbers are decimal and not negative, and leave room for the next") {
    CHECK(parse_etcd_number("0") == 0);
    CHECK(parse_etcd_number("+12") == 12);
    CHECK(parse_etcd_number("007") == 7);
    CHECK(parse_etcd_number("9223372036854775806") == 9223372036854775806);
    for (const char* text :
         {"", "+", "-1", "-0", "++1", "+-1", " 1", "1 ", "1.0", "0x1", "9223372036854775807"})
        CHECK_FALSE(parse_etcd_number(text));
}

TEST_CASE("etcd store: a reader never sees half of a decision") {
    if (!support::etcd_program()) return;
    Fresh f;
    f.desk.open();
    net::EtcdClient reader = client_of(f.loop, options_for({shared_etcd().url()}));
    int reads = 0;
    int torn = 0;
    bool stop = false;
    std::function<void()> read_on = [&] {
        reader.list(net::etcd_prefix("v1/" + f.name_space + "/planner/"),
                    [&](const net::EtcdResult<net::EtcdListing>& listing) {
                        REQUIRE(listing);
                        std::map<std::string, std::string> keys;
                        for (const auto& pair : listing->pairs) keys[pair.key] = pair.value;
                        const std::string id = keys[f.desk.keys.current];
                        if (keys[f.desk.keys.prefill] != id || keys[f.desk.keys.decode] != id) ++torn;
                        ++reads;
                        if (!stop) read_on();
                    });
    };
    read_on();
    for (int i = 0; i < 200; ++i) {
        REQUIRE(f.desk.propose(i, i, true).back() ==
                "published " + std::to_string(i) + " as " + std::to_string(i));
    }
    stop = true;
    REQUIRE(run_until(f.loop, [&] { return reads > 50; }));
    CHECK(torn == 0);
    // Of 200 decisions as many records are kept as the coordinator asks for.
    CHECK(f.desk.store->seen().records.size() <= decision::Coordinator::records_kept);
    CHECK(f.desk.store->seen().records.size() >= 100);
}

TEST_CASE("etcd store: two coordinators and a client that acknowledges: numbers without gap or repeat") {
    if (!support::etcd_program()) return;
    const std::string name_space = fresh_name_space();
    boost::asio::io_context loop;
    Desk one{loop, shared_etcd().url(), in(name_space)};
    Desk two{loop, shared_etcd().url(), in(name_space)};
    one.open();
    two.open();
    std::vector<DecisionId> published;
    for (int round = 0; round < 100; ++round) {
        for (Desk* desk : {&one, &two}) {
            ScaleTo want;
            want.proposal = desk->proposals++;
            want.decode = Replicas{2 * round + (desk == &one ? 0 : 1)};
            desk->keep(desk->coordinator->propose(want, desk->now, 0));
        }
        const auto answered = [](const Desk& desk) {
            return std::any_of(desk.lines.begin(), desk.lines.end(), [](const std::string& line) {
                return line.starts_with("published") || line.starts_with("refused");
            });
        };
        REQUIRE(run_until(loop, [&] { return answered(one) && answered(two); }));
        int winners = 0;
        for (Desk* desk : {&one, &two}) {
            for (const std::string& line : desk->take_lines()) {
                CHECK(line.find("conflict") == std::string::npos);
                if (!line.starts_with("published")) continue;
                ++winners;
                published.push_back(std::stoll(line.substr(line.rfind(' '))));
            }
        }
        CHECK(winners == 1);
        one.put(one.keys.acknowledged, std::to_string(published.back()));
        REQUIRE(run_until(loop, [&] { return !one.coordinator->open() && !two.coordinator->open(); }));
    }
    REQUIRE(published.size() == 100);
    for (std::size_t i = 0; i < published.size(); ++i) CHECK(published[i] == static_cast<DecisionId>(i));
    CHECK(one.store->counts().conflicts + two.store->counts().conflicts >= 1);
}

TEST_CASE("etcd store: a record that is too long is kept without its why; too many operations are refused") {
    if (!support::etcd_program()) return;
    boost::asio::io_context loop;
    EtcdStoreOptions options = in(fresh_name_space());
    options.record_bytes_max = 400;
    Desk desk{loop, shared_etcd().url(), options};
    desk.open();
    const auto commit = [&](const port::Transaction& t) {
        const auto before = desk.results.size();
        if (const auto at_once = desk.store->commit(t)) return at_once->result;
        REQUIRE(run_until(loop, [&] { return desk.results.size() > before; }));
        return desk.results.back();
    };
    port::Transaction t;
    t.current = 0;
    port::DecisionRecord& record = t.put.emplace_back();
    record.reason = Reason::scale_up;
    record.why_json = std::string(500, 'x');
    CHECK(commit(t) == CommitResult::ok);
    CHECK(desk.store->counts().records_cut == 1);
    REQUIRE(run_until(loop, [&] { return desk.store->seen().records.size() == 1; }));
    CHECK(desk.store->seen().records[0].why_json.empty());
    CHECK(desk.store->seen().records[0].reason == Reason::scale_up);
    t.expected_revision = desk.store->seen().revision;
    for (DecisionId id = 1; id < 129; ++id) t.put.emplace_back().decision_id = id;
    CHECK(commit(t) == CommitResult::failed);
    CHECK(desk.store->trouble() == "etcd: a transaction of 130 operations is more than its 128");
}

}  // namespace dynaplan::connector
