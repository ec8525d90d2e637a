// What goes wrong on purpose: the bus, single engines, whole replicas.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/fleet.hpp"

using namespace dynaplan;
using namespace dynaplan::sim;

namespace {

FleetConfig two_decodes() {
    FleetConfig c;
    c.mode = Mode::decode;
    c.traffic.load.rate = 10.0;
    c.traffic.isl = {1000.0, 0.0, 8'000};
    c.traffic.osl = {100.0, 0.0, 500};
    c.role.decode.replicas = 2;
    c.role.decode.engine.noise = 0.0;
    return c;
}

std::vector<Event> run(Fleet& fleet, double until) {
    std::vector<Event> events;
    fleet.run_until(at_seconds(until), events);
    return events;
}

struct Heard {
    double at = 0.0;
    ForwardPass pass;
};
std::vector<Heard> heard(const std::vector<Event>& events, const std::string& worker_id) {
    std::vector<Heard> found;
    for (const Event& e : events) {
        const auto* f = std::get_if<FpmArrived>(&e.body);
        if (f != nullptr && f->fpm.worker_id == worker_id) found.push_back({seconds_of(e.at), f->fpm.pass});
    }
    return found;
}

}  // namespace

TEST_CASE("faults: lost reports leave gaps, doubled ones come twice, late ones out of order") {
    FleetConfig c = two_decodes();
    c.role.decode.replicas = 1;
    c.channel = {0.1, 0.1, 0.1, Seconds{1}};
    Fleet fleet{c, 1};
    const auto events = run(fleet, 100.0);
    CHECK(std::is_sorted(events.begin(), events.end(),
                         [](const Event& a, const Event& b) { return a.at < b.at; }));
    std::map<std::int64_t, int> times;
    int backwards = 0;
    std::int64_t last = -1;
    for (const Heard& h : heard(events, "1")) {
        ++times[h.pass.counter_id];
        backwards += h.pass.counter_id < last;
        last = h.pass.counter_id;
    }
    const auto sent = static_cast<double>(fleet.reports_sent());
    CHECK(static_cast<double>(fleet.reports_lost()) / sent == doctest::Approx(0.1).epsilon(0.2));
    // All but the lost ones were heard, up to those still under way.
    const std::int64_t heard_once = static_cast<std::int64_t>(times.size());
    CHECK(fleet.reports_sent() - fleet.reports_lost() - heard_once >= 0);
    CHECK(fleet.reports_sent() - fleet.reports_lost() - heard_once < 40);
    const auto twice = std::count_if(times.begin(), times.end(), [](const auto& t) { return t.second == 2; });
    CHECK(static_cast<double>(twice) / sent == doctest::Approx(0.09).epsilon(0.2));
    CHECK(backwards > 100);
}

TEST_CASE("faults: a slow engine takes the factor longer while it lasts") {
    FleetConfig c = two_decodes();
    c.faults = {{Role::decode, 1, Fault::Kind::slow, Seconds{20}, Seconds{40}, 4.0}};
    Fleet fleet{c, 1};
    double in = 0.0;
    double out = 0.0;
    for (const Heard& h : heard(run(fleet, 60.0), "2")) {
        const ScheduledRequests& s = h.pass.scheduled;
        if (h.pass.wall_time == 0.0) continue;
        const Seconds plain = c.role.decode.engine.pass_time.of(
            {s.sum_prefill_tokens, s.num_decode_requests, s.sum_decode_kv_tokens});
        const double factor = h.pass.wall_time / plain.count();
        (h.at > 20.2 && h.at < 40.0 ? in : out) = std::max(h.at > 20.2 && h.at < 40.0 ? in : out, factor);
    }
    CHECK(in == doctest::Approx(4.0));
    // A pass that began before the end is still a slow one.
    CHECK(out <= 4.0 + 1e-9);
    Fleet healthy{two_decodes(), 1};
    CHECK(fleet.scores(TimePoint{}).itl_p95 > healthy.scores(TimePoint{}).itl_p95);
}

TEST_CASE("faults: a silent engine works on without being heard") {
    FleetConfig c = two_decodes();
    c.traffic.load.until = Seconds{50};
    c.faults = {{Role::decode, 0, Fault::Kind::silent, Seconds{20}, Seconds{40}}};
    Fleet fleet{c, 1};
    std::int64_t before = -1;
    for (const Heard& h : heard(run(fleet, 60.0), "1")) {
        CHECK((h.at < 20.0 || h.at >= 40.0));
        CHECK(h.pass.counter_id > before);
        before = h.pass.counter_id;
    }
    CHECK(fleet.requests_inside() == 0);
    CHECK(before > 0);
}

TEST_CASE("faults: a stuck engine makes no pass and repeats its queue once a second, then goes on") {
    FleetConfig c = two_decodes();
    c.routing = Routing::round_robin;
    c.traffic.load.until = Seconds{30};
    c.faults = {{Role::decode, 0, Fault::Kind::stuck, Seconds{20}, Seconds{45}}};
    Fleet fleet{c, 1};
    std::vector<Heard> during;
    for (const Heard& h : heard(run(fleet, 44.9), "1")) {
        if (h.at > 20.5) during.push_back(h);
    }
    REQUIRE(during.size() >= 23);
    CHECK(during.size() <= 25);
    for (const Heard& h : during) CHECK(h.pass.wall_time == 0.0);
    CHECK(during.back().pass.queued.num_decode_requests > 10);
    CHECK(fleet.requests_inside() > 10);
    run(fleet, 100.0);
    CHECK(fleet.requests_inside() == 0);
}

TEST_CASE("faults: a crash loses the engine at once, its entry later, and its requests start again") {
    FleetConfig c = two_decodes();
    c.traffic.load.until = Seconds{50};
    c.inventory_interval = Seconds{0};
    c.role.decode.startup.typical = Seconds{15};
    c.faults = {{Role::decode, 0, Fault::Kind::crash, Seconds{20}}};
    Fleet fleet{c, 1};
    const auto events = run(fleet, 100.0);
    for (const Heard& h : heard(events, "1")) CHECK(h.at <= 20.0);
    double left = 0.0;
    double joined = 0.0;
    std::vector<std::pair<double, std::int64_t>> ready;
    for (const Event& e : events) {
        if (std::holds_alternative<EngineLeft>(e.body)) left = seconds_of(e.at);
        if (std::holds_alternative<EngineJoined>(e.body)) joined = seconds_of(e.at);
        if (const auto* i = std::get_if<InventoryRead>(&e.body)) {
            ready.emplace_back(seconds_of(e.at), i->ready->count());
        }
    }
    CHECK(left == 30.0);
    CHECK(joined == 35.0);
    CHECK(ready == std::vector<std::pair<double, std::int64_t>>{{0.0, 2}, {20.0, 1}, {35.0, 2}});
    const Scores s = fleet.scores(TimePoint{});
    CHECK(s.finished == s.arrived);
    CHECK(s.gpu_time.count() == doctest::Approx(100 + 20 + 80));
}

TEST_CASE("faults: the queue of the fleet is bounded, and what it refuses is counted") {
    FleetConfig c = two_decodes();
    c.role.decode.replicas = 0;
    c.queued_most = 50;
    Fleet fleet{c, 1};
    run(fleet, 60.0);
    const Scores s = fleet.scores(TimePoint{});
    CHECK(fleet.requests_inside() == 50);
    CHECK(s.refused == s.arrived - 50);
}

TEST_CASE("faults: a configuration that makes no fleet is named") {
    FleetConfig c = two_decodes();
    CHECK(problems(c).empty());
    c.channel.lost = 2.0;
    c.role.decode.engine.max_num_seqs = 0;
    c.faults = {{Role::prefill, 0, Fault::Kind::crash}};
    CHECK(problems(c).size() == 3);
}
