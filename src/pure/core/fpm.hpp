// ForwardPassMetrics: what one engine (a worker's data-parallel rank) reports after each forward pass.
// Field names, order, types and defaults are the wire's (proto/fpm.md); units are in the names or stated.
#pragma once

#include <cstdint>
#include <string>

namespace dynaplan {

struct ScheduledRequests {                   // work executed in this pass
    std::int64_t num_prefill_requests = 0;   // new prompts and chunk continuations
    std::int64_t sum_prefill_tokens = 0;     // tokens computed now, cached ones excluded
    double var_prefill_length = 0.0;         // tokens^2, population variance of whole prompt lengths
    std::int64_t sum_prefill_kv_tokens = 0;  // KV read for prefill: prefix hits and earlier chunks
    std::int64_t num_decode_requests = 0;
    std::int64_t sum_decode_kv_tokens = 0;  // KV context summed over decode requests
    double var_decode_kv_tokens = 0.0;      // tokens^2
    bool operator==(const ScheduledRequests&) const = default;
};

struct QueuedRequests {  // work waiting, not executed
    std::int64_t num_prefill_requests = 0;
    std::int64_t sum_prefill_tokens = 0;  // raw prompt tokens: prefix-cache effects are not known yet
    double var_prefill_length = 0.0;
    std::int64_t num_decode_requests = 0;  // preempted
    std::int64_t sum_decode_kv_tokens = 0;
    double var_decode_kv_tokens = 0.0;
    bool operator==(const QueuedRequests&) const = default;
};

// The numbers of one report, without the engine's name.
struct ForwardPass {
    std::int64_t counter_id =
        0;                   // per engine; a smaller one than the last means that the publisher restarted
    double wall_time = 0.0;  // seconds; 0 on heartbeats, and when the duration is not known
    ScheduledRequests scheduled;
    QueuedRequests queued;
    bool operator==(const ForwardPass&) const = default;
};

// True when wall_time and all thirteen block values are zero.
[[nodiscard]] inline bool is_idle_heartbeat(const ForwardPass& p) {
    return p.wall_time == 0.0 && p.scheduled == ScheduledRequests{} && p.queued == QueuedRequests{};
}

// One report as it came over the wire. Integers of the wire may reach 2^64-1: decode_fpm keeps such a value's
// bits and says so, and admit refuses it, so that the core only ever sees 0 .. 2^63-1.
struct Fpm {
    std::int64_t version = 1;
    std::string worker_id;  // decimal text of the instance id, taken as it is
    std::int64_t dp_rank = 0;
    ForwardPass pass;
    bool operator==(const Fpm&) const = default;
};

}  // namespace dynaplan
