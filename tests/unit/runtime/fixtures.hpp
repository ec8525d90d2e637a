// A service with a clock that stands still until told, a journal in memory, and a memory store.
#pragma once

#include <vector>

#include "decision/memory_store.hpp"
#include "runtime/service.hpp"

namespace dynaplan::runtime {

class HandClock final : public port::Clock {
public:
    [[nodiscard]] TimePoint now() const override { return at; }
    [[nodiscard]] std::int64_t wall_ms() const override {
        return static_cast<std::int64_t>(seconds_of(at) * 1000.0);
    }
    TimePoint at = at_seconds(1'000'000.0);
};

class MemoryJournal final : public port::Journal {
public:
    void append_event(const Event& e) override { events.push_back(e); }
    void append_effect(const Effect& e) override { effects.push_back(e); }
    [[nodiscard]] port::JournalState state() const override { return {}; }
    [[nodiscard]] std::uint64_t dropped() const override { return 0; }

    std::vector<Event> events;
    std::vector<Effect> effects;
};

// One decode engine whose passes take 8 ms + 1e-7 s per KV token; an ITL target of 40 ms is missed from
// 320,000 on.
inline PlannerConfig decode_config() {
    PlannerConfig c;
    c.mode = Mode::decode;
    c.itl = Millis{40.0};
    c.enable_throughput_scaling = false;
    c.capabilities.decode.max_kv_tokens = 1'000'000;
    c.capabilities.decode.num_gpu = Gpus{1};
    return c;
}

struct Rig {
    explicit Rig(const PlannerConfig& config = decode_config())
        : service{plan::Planner{config}, {}, {clock, store, bus}}, first{service.checkpoint()} {
        service.write_to(journal);
    }

    void pass(const std::string& worker, std::int64_t counter_id, std::int64_t kv) {
        FpmArrived arrived{Role::decode, {}};
        arrived.fpm.worker_id = worker;
        arrived.fpm.pass.counter_id = counter_id;
        arrived.fpm.pass.wall_time = 0.008 + 1e-7 * static_cast<double>(kv);
        arrived.fpm.pass.scheduled.num_decode_requests = kv / 1000;
        arrived.fpm.pass.scheduled.sum_decode_kv_tokens = kv;
        service.take(EventBody{std::move(arrived)});
    }
    // Runs until `seconds` from the start, with a pass of each worker every 100 ms.
    void run(double seconds, const std::vector<std::string>& workers, std::int64_t kv) {
        const TimePoint end = start + Seconds{seconds};
        while (clock.at < end) {
            clock.at += Seconds{0.1};
            if (const auto due = service.next_wake(); due && *due <= clock.at) service.wake();
            ++counter;
            for (const std::string& worker : workers) pass(worker, counter, kv + 1000 * (counter % 7));
        }
    }

    HandClock clock;
    port::BusCounts bus;
    MemoryJournal journal;
    decision::MemoryStore store;
    Service service;
    Checkpoint first;  // what a journal would begin with
    TimePoint start = clock.at;
    std::int64_t counter = 0;
};

}  // namespace dynaplan::runtime
