#include "sim/fleet.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/digest.hpp"

using namespace dynaplan;
using namespace dynaplan::sim;

namespace {

FleetConfig small(Mode mode) {
    FleetConfig c;
    c.mode = mode;
    c.traffic.load.rate = 5.0;
    c.traffic.isl = {1000.0, 0.3, 8'000};
    c.traffic.osl = {50.0, 0.3, 500};
    c.role.prefill.replicas = 2;
    c.role.decode.replicas = 2;
    return c;
}

std::vector<Event> run(Fleet& fleet, double until) {
    std::vector<Event> events;
    fleet.run_until(at_seconds(until), events);
    return events;
}

template <class T>
std::vector<std::pair<double, T>> all_of_type(const std::vector<Event>& events) {
    std::vector<std::pair<double, T>> found;
    for (const Event& e : events) {
        if (const T* body = std::get_if<T>(&e.body)) found.emplace_back(seconds_of(e.at), *body);
    }
    return found;
}

ScaleTo decode_to(std::int64_t n) {
    ScaleTo s;
    s.decode = Replicas{n};
    return s;
}

std::uint64_t digest_of(const FleetConfig& config, std::uint64_t seed) {
    Fleet fleet{config, seed};
    std::vector<Event> events = run(fleet, 40.0);
    fleet.apply(decode_to(4), at_seconds(40.0), 0);
    fleet.ask_traffic(Seconds{30}, at_seconds(40.0));
    fleet.run_until(at_seconds(120.0), events);
    Digest digest;
    for (const Event& e : events) digest.add(e);
    return digest.value();
}

}  // namespace

TEST_CASE("fleet: a seed run twice gives the same events, another seed others") {
    FleetConfig c = small(Mode::disagg);
    c.channel = {0.05, 0.05, 0.05, Seconds{1}};
    c.role.decode.startup = {Seconds{20}, 0.5, 0.1};
    for (const std::uint64_t seed : {1, 2, 3}) CHECK(digest_of(c, seed) == digest_of(c, seed));
    CHECK(digest_of(c, 1) != digest_of(c, 2));
}

TEST_CASE("fleet: it does not matter in which steps time goes by") {
    const FleetConfig c = small(Mode::disagg);
    Fleet whole{c, 9};
    Fleet steps{c, 9};
    Digest a;
    Digest b;
    for (const Event& e : run(whole, 30.0)) a.add(e);
    std::vector<Event> events;
    while (*steps.next_time() <= at_seconds(30.0)) steps.run_until(*steps.next_time(), events);
    for (const Event& e : events) b.add(e);
    CHECK(a.value() == b.value());
}

TEST_CASE("fleet: events come in time order, in every mode, and requests are served") {
    for (const Mode mode : {Mode::disagg, Mode::prefill, Mode::decode, Mode::agg}) {
        CAPTURE(to_string(mode));
        FleetConfig c = small(mode);
        c.traffic.load.until = Seconds{60};
        Fleet fleet{c, 4};
        const auto events = run(fleet, 120.0);
        CHECK(std::is_sorted(events.begin(), events.end(),
                             [](const Event& a, const Event& b) { return a.at < b.at; }));
        const Scores s = fleet.scores(TimePoint{});
        CHECK(s.arrived > 200);
        CHECK(s.finished == s.arrived);
        CHECK(fleet.requests_inside() == 0);
        CHECK(s.attainment > 0.9);
        for (const auto& [at, fpm] : all_of_type<FpmArrived>(events)) CHECK(has_role(mode, fpm.role));
    }
}

TEST_CASE("fleet: at the start engines join with their capabilities, then the inventory is read") {
    Fleet fleet{small(Mode::disagg), 1};
    const auto events = run(fleet, 0.0);
    REQUIRE(events.size() == 6);
    const auto joined = all_of_type<EngineJoined>(events);
    REQUIRE(joined.size() == 4);
    CHECK(joined[0].second.role == Role::prefill);
    CHECK(joined[3].second.role == Role::decode);
    CHECK(joined[0].second.capabilities.max_num_batched_tokens == 8192);
    CHECK(joined[0].second.capabilities.num_gpu == Gpus{1});
    const auto inventory = all_of_type<InventoryRead>(events);
    REQUIRE(inventory.size() == 2);
    CHECK(inventory[1].second.ready == Replicas{2});
    CHECK(inventory[1].second.expected == Replicas{2});
    CHECK_FALSE(inventory[1].second.rolling);
}

TEST_CASE("fleet: counters rise by one per engine, from 0, heartbeats included") {
    FleetConfig c = small(Mode::disagg);
    c.role.decode.engine.dp_ranks = 2;
    Fleet fleet{c, 1};
    std::map<std::pair<std::string, std::int64_t>, std::int64_t> next;
    bool in_order = true;
    for (const auto& [at, fpm] : all_of_type<FpmArrived>(run(fleet, 60.0))) {
        in_order = in_order && fpm.fpm.pass.counter_id == next[{fpm.fpm.worker_id, fpm.fpm.dp_rank}]++;
    }
    CHECK(in_order);
    CHECK(next.size() == 6);  // 2 prefill, 2 decode workers of 2 ranks
}

TEST_CASE("fleet: an idle engine reports zeros once a second") {
    FleetConfig c = small(Mode::decode);
    c.role.decode.replicas = 1;
    c.traffic.load.rate = 0.0;
    Fleet fleet{c, 1};
    const auto reports = all_of_type<FpmArrived>(run(fleet, 5.5));
    REQUIRE(reports.size() == 5);
    for (std::size_t i = 0; i < reports.size(); ++i) {
        CHECK(reports[i].first == doctest::Approx(1.0 + static_cast<double>(i)));
        CHECK(is_idle_heartbeat(reports[i].second.fpm.pass));
        CHECK(reports[i].second.fpm.pass.counter_id == static_cast<std::int64_t>(i));
    }
}

TEST_CASE("fleet: growing takes the start-up time, and the inventory shows it") {
    FleetConfig c = small(Mode::decode);
    c.role.decode.startup.typical = Seconds{30};
    c.inventory_interval = Seconds{0};
    Fleet fleet{c, 1};
    run(fleet, 10.0);
    fleet.apply(decode_to(3), at_seconds(10.0), 7);
    const auto events = run(fleet, 60.0);
    const auto inventory = all_of_type<InventoryRead>(events);
    REQUIRE(inventory.size() == 2);
    CHECK(inventory[0].first == 10.0);
    CHECK(inventory[0].second.ready == Replicas{2});
    CHECK(inventory[0].second.expected == Replicas{3});
    CHECK(inventory[0].second.rolling);
    CHECK(inventory[1].first == 40.0);
    CHECK(inventory[1].second.ready == Replicas{3});
    CHECK_FALSE(inventory[1].second.rolling);
    const auto joined = all_of_type<EngineJoined>(events);
    REQUIRE(joined.size() == 1);
    CHECK(joined[0].first == 40.0);
    const auto outcomes = all_of_type<DecisionOutcome>(events);
    REQUIRE(outcomes.size() == 1);
    CHECK(outcomes[0].second.decision_id == 7);
    CHECK(outcomes[0].second.outcome == OutcomeKind::acknowledged);
    CHECK(fleet.scores(TimePoint{}).gpu_time.count() == doctest::Approx(2 * 60 + 50));
}

TEST_CASE("fleet: acknowledgement can wait for readiness, or never come") {
    FleetConfig c = small(Mode::decode);
    c.acknowledge.when = Acknowledge::When::when_ready;
    Fleet ready{c, 1};
    run(ready, 10.0);
    ready.apply(decode_to(3), at_seconds(10.0), 0);
    const auto outcomes = all_of_type<DecisionOutcome>(run(ready, 60.0));
    REQUIRE(outcomes.size() == 1);
    CHECK(outcomes[0].first == 40.0);
    c.acknowledge.when = Acknowledge::When::never;
    Fleet never{c, 1};
    run(never, 10.0);
    never.apply(decode_to(3), at_seconds(10.0), 0);
    CHECK(all_of_type<DecisionOutcome>(run(never, 60.0)).empty());
}

TEST_CASE("fleet: a decision that came too late for its acknowledgement is not acknowledged") {
    FleetConfig c = small(Mode::decode);
    c.acknowledge.delay = Seconds{5};
    Fleet fleet{c, 1};
    run(fleet, 10.0);
    fleet.apply(decode_to(3), at_seconds(10.0), 0);
    run(fleet, 12.0);
    fleet.apply(decode_to(4), at_seconds(12.0), 1);
    const auto outcomes = all_of_type<DecisionOutcome>(run(fleet, 60.0));
    REQUIRE(outcomes.size() == 1);
    CHECK(outcomes[0].second.decision_id == 1);
}

TEST_CASE("fleet: shrinking takes pending replicas first, then drains the newest, which finishes its work") {
    FleetConfig c = small(Mode::decode);
    c.traffic.load.rate = 20.0;
    Fleet fleet{c, 1};
    run(fleet, 10.0);
    fleet.apply(decode_to(4), at_seconds(10.0), 0);
    run(fleet, 11.0);
    fleet.apply(decode_to(1), at_seconds(11.0), 1);
    const auto events = run(fleet, 100.0);
    CHECK(all_of_type<EngineJoined>(events).empty());
    const auto left = all_of_type<EngineLeft>(events);
    REQUIRE(left.size() == 1);
    CHECK(left[0].second.engine.worker_id == "2");
    CHECK(left[0].first == 11.0);
    double last_of_drained = 0.0;
    for (const auto& [at, fpm] : all_of_type<FpmArrived>(events)) {
        if (fpm.fpm.worker_id == "2") last_of_drained = at;
    }
    CHECK(last_of_drained > 11.1);
    CHECK(last_of_drained < 30.0);
    CHECK(fleet.serving(Role::decode) == Replicas{1});
}

TEST_CASE("fleet: with no replica left requests wait, and are served once one is back") {
    FleetConfig c = small(Mode::disagg);
    c.traffic.load.until = Seconds{60};
    Fleet fleet{c, 1};
    run(fleet, 10.0);
    fleet.apply(decode_to(0), at_seconds(10.0), 0);
    run(fleet, 40.0);
    CHECK(fleet.serving(Role::decode) == Replicas{0});
    CHECK(fleet.requests_inside() > 50);
    fleet.apply(decode_to(2), at_seconds(40.0), 1);
    run(fleet, 200.0);
    CHECK(fleet.requests_inside() == 0);
}

TEST_CASE("fleet: a replica that never starts stays pending until it is given up") {
    FleetConfig c = small(Mode::decode);
    c.role.decode.startup.never = 1.0;
    Fleet fleet{c, 1};
    run(fleet, 10.0);
    fleet.apply(decode_to(5), at_seconds(10.0), 0);
    run(fleet, 2000.0);
    CHECK(fleet.serving(Role::decode) == Replicas{2});
    CHECK(fleet.target(Role::decode) == Replicas{5});
    fleet.apply(decode_to(2), at_seconds(2000.0), 1);
    run(fleet, 2010.0);
    CHECK(fleet.serving(Role::decode) == Replicas{2});
    CHECK(fleet.scores(TimePoint{}).gpu_time.count() == doctest::Approx(2 * 2010 + 3 * 1990));
}

TEST_CASE("fleet: traffic is counted as it arrives; an outage reads as unknown, silence as idle") {
    FleetConfig c = small(Mode::disagg);
    c.traffic.load.until = Seconds{100};
    c.traffic_outages = {{Seconds{150}, Seconds{160}}};
    Fleet fleet{c, 1};
    run(fleet, 100.0);
    fleet.ask_traffic(Seconds{100}, at_seconds(100.0));
    auto events = run(fleet, 155.0);
    auto answers = all_of_type<TrafficObserved>(events);
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].first == doctest::Approx(100.05));
    REQUIRE(answers[0].second.traffic.is_known());
    const double counted = answers[0].second.traffic.value().num_req;
    CHECK(counted == static_cast<double>(fleet.scores(TimePoint{}).arrived));
    CHECK(answers[0].second.traffic.value().isl == doctest::Approx(1000.0).epsilon(0.1));
    fleet.ask_traffic(Seconds{30}, at_seconds(155.0));
    run(fleet, 155.01);
    events = run(fleet, 170.0);
    answers = all_of_type<TrafficObserved>(events);
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].second.traffic.is_unknown());
    fleet.ask_traffic(Seconds{30}, at_seconds(170.0));
    answers = all_of_type<TrafficObserved>(run(fleet, 171.0));
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].second.traffic.is_idle());
}
