// One event of every type at least, with awkward numbers and texts, for the round trips of JSON and journal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/event.hpp"

namespace dynaplan::wire {

inline Fpm sample_fpm() {
    Fpm f;
    f.worker_id = "7587890125863921413";
    f.dp_rank = 1;
    f.pass.counter_id = 70'211;
    f.pass.wall_time = 0.018734;
    f.pass.scheduled = {2, 3072, 262144.0, 1024, 17, 70211, 1843.25};
    f.pass.queued = {3, 9001, 12.5, 1, 4096, 0.1};
    return f;
}

inline std::vector<Event> sample_events() {
    Traffic traffic{Seconds{180.0}, 5400.0, 3000.0, 300.125, std::nullopt, Millis{210.0}, Millis{18.1}};
    Traffic quiet{Seconds{0.0}, 0.0, 0.0, 0.0, 0.25, std::nullopt, std::nullopt};
    Fpm heartbeat;
    heartbeat.worker_id = "w";
    Fpm huge = sample_fpm();
    huge.pass.counter_id = INT64_MAX;
    huge.pass.wall_time = 5e-324;
    huge.pass.scheduled.var_decode_kv_tokens = -0.0;
    huge.pass.queued.var_prefill_length = 1.7976931348623157e308;
    huge.pass.queued.sum_prefill_tokens = INT64_MAX;

    std::vector<EventBody> bodies{
        EngineJoined{Role::decode, {"7", 0}, {Gpus{1}, 8192, 256, 32768, 400000}},
        EngineJoined{Role::prefill, {"a \"quoted\" worker\n\xc3\xa9", 3}, {}},
        EngineLeft{Role::decode, {"7", 12}},
        FpmArrived{Role::decode, sample_fpm()},
        FpmArrived{Role::prefill, heartbeat},
        FpmArrived{Role::prefill, huge},
        InventoryRead{Role::decode, Replicas{1}, Replicas{4}, true},
        InventoryRead{Role::prefill, std::nullopt, std::nullopt, false},
        TrafficObserved{Seconds{180.0}, Reading<Traffic>::known(traffic)},
        TrafficObserved{Seconds{0.0}, Reading<Traffic>::known(quiet)},
        TrafficObserved{Seconds{60.5}, Reading<Traffic>::idle()},
        TrafficObserved{Seconds{60.5}, Reading<Traffic>::unknown()},
        TickDue{},
        DecisionPublished{0, 41},
        DecisionRestored{7, Replicas{2}, std::nullopt, DecisionState::published, Seconds{12.75}},
        ConfigChanged{{{"ttft", std::int64_t{400}},
                       {"itl", 50.0},
                       {"kalman_r", 1e-7},
                       {"policy.trigger", std::string{"tick"}},
                       {"enable_load_scaling", false},
                       {"prefill_min_endpoint", std::monostate{}}}},
        ConfigChanged{},
        BusChanged{false},
        BusChanged{true},
        LeaderChanged{true},
        LeaderChanged{false},
    };
    for (const auto k :
         {OutcomeKind::acknowledged, OutcomeKind::failed, OutcomeKind::timed_out, OutcomeKind::superseded}) {
        bodies.emplace_back(DecisionOutcome{3, k});
    }
    for (const auto r : {Refusal::unchanged, Refusal::not_ready, Refusal::conflict, Refusal::store}) {
        bodies.emplace_back(DecisionRefused{5, r});
    }
    std::vector<Event> events;
    double t = 0.1;
    for (EventBody& b : bodies) {
        events.push_back({at_seconds(t), std::move(b)});
        t += 1.0 / 3.0;
    }
    events.front().at = at_seconds(1776800000.123456);
    return events;
}

}  // namespace dynaplan::wire
