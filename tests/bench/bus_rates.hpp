// What both halves of the bus benchmark share: the reports of a fleet as payloads, the core at the end of the
// way, and a count that two threads see.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/fleet.hpp"
#include "core/role.hpp"
#include "plan/planner.hpp"
#include "port/event_sink.hpp"

namespace dynaplan::bench {

using Clock = std::chrono::steady_clock;

struct BusReport {
    Role role{};
    std::string payload;
};
// Fresh passes of a hundred engines, by the recipes of the other rows.
std::vector<BusReport> bus_reports();

// Counts arrivals; the first `warm_up` of them are not timed.
class Arrivals {
public:
    Arrivals(std::int64_t warm_up, std::int64_t timed) : warm_up_{warm_up}, all_{warm_up + timed} {}
    void one() {
        const std::int64_t n = count_.load(std::memory_order_relaxed) + 1;
        if (n == warm_up_) begun_ = Clock::now();
        if (n == all_) ended_ = Clock::now();
        count_.store(n, std::memory_order_release);
    }
    [[nodiscard]] std::int64_t count() const { return count_.load(std::memory_order_acquire); }
    [[nodiscard]] bool done() const { return count() >= all_; }
    [[nodiscard]] double per_second() const {
        return static_cast<double>(all_ - warm_up_) / std::chrono::duration<double>(ended_ - begun_).count();
    }

private:
    const std::int64_t warm_up_;
    const std::int64_t all_;
    std::atomic<std::int64_t> count_{0};
    Clock::time_point begun_;
    Clock::time_point ended_;
};

// The core as the service drives it: each event is given its time, its effects are answered at once.
class ModelSink final : public port::EventSink {
public:
    explicit ModelSink(Arrivals& arrivals);
    void take(Event& event) override;
    [[nodiscard]] std::int64_t observed() const;

private:
    Arrivals& arrivals_;
    ReportingFleet fleet_;
    plan::Planner planner_;
    Draws draws_{1};
    Clock::time_point begun_;
    TimePoint settled_{};
};

// Messages a second of one pass.
double zmq_bare(const std::vector<BusReport>&, std::int64_t messages);
double zmq_to_model(const std::vector<BusReport>&, std::int64_t messages);
double nats_bare(const std::string& address, const std::vector<BusReport>&, std::int64_t messages);
double nats_to_model(const std::string& address, const std::vector<BusReport>&, std::int64_t messages);

}  // namespace dynaplan::bench
