// Recordings made on the spot.
#pragma once

#include <cstdint>
#include <string>

#include "core/config.hpp"
#include "replay/recording.hpp"

namespace dynaplan::replay {

inline constexpr std::int64_t start_ms = 1'767'225'600'000;

// A pass of a decode engine; its time grows with the KV tokens, 44 ms on average.
inline ForwardPass decode_pass(std::int64_t i) {
    ForwardPass p;
    p.counter_id = i;
    p.scheduled.num_decode_requests = 4 + i % 29;
    p.scheduled.sum_decode_kv_tokens = p.scheduled.num_decode_requests * (1500 + 37 * (i % 11));
    p.wall_time = 0.012 + 1e-6 * static_cast<double>(p.scheduled.sum_decode_kv_tokens) +
                  1e-4 * static_cast<double>(p.scheduled.num_decode_requests);
    return p;
}

inline wire::TraceRecord record_at(std::int64_t ms, const std::string& component = "backend",
                                   const std::string& worker = "7", std::int64_t counter = 0) {
    wire::TraceRecord r;
    r.component = component;
    r.observed_at_unix_ms = start_ms + ms;
    r.fpm.worker_id = worker;
    r.fpm.pass = decode_pass(counter);
    return r;
}

inline PlannerConfig decode_config() {
    PlannerConfig c = config_of(Preset::dynaplan);
    c.mode = Mode::decode;
    c.itl = Millis{30.0};
    c.enable_throughput_scaling = false;
    c.max_gpu_budget = -1;
    c.decode_engine_num_gpu = 1;
    c.capabilities.decode.max_kv_tokens = 400'000;
    return c;
}

}  // namespace dynaplan::replay
