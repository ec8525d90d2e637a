// Random deployments and what their ticks are told: a configuration, engines that come and go, load that
// drifts from idle to far too much, traffic with gaps. One seed is one scenario.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/config.hpp"
#include "core/tick.hpp"

namespace dynaplan::reference {

class Dice {
public:
    explicit Dice(std::uint64_t seed) : state_{seed * 0x9e3779b97f4a7c15U + 1} {}
    std::uint64_t bits();
    double share() { return static_cast<double>(bits() >> 11U) * 0x1p-53; }  // in [0, 1)
    double between(double low, double high) { return low + (high - low) * share(); }
    std::int64_t among(std::int64_t n) { return static_cast<std::int64_t>(share() * static_cast<double>(n)); }
    bool chance(double p) { return share() < p; }
    template <class T>
    T one_of(std::initializer_list<T> values) {
        return values.begin()[among(static_cast<std::int64_t>(values.size()))];
    }

private:
    std::uint64_t state_;
};

class RandomWorld {
public:
    explicit RandomWorld(std::uint64_t seed);

    [[nodiscard]] const PlannerConfig& config() const { return config_; }
    [[nodiscard]] const PerRole<Capabilities>& capabilities() const { return capabilities_; }
    [[nodiscard]] const PerRole<std::vector<ForwardPass>>& bootstrap() const { return bootstrap_; }

    // The tick as it will be run: now and then a throughput tick that nobody scheduled.
    ScheduledTick bent(ScheduledTick);
    // What the tick is given; valid until the next call.
    TickInput input(const ScheduledTick&);
    // A pass of an engine of the role at its present load, and the load's next step.
    ForwardPass pass(Role);
    void drift(Role);
    // The fleet follows a decision, more or less.
    void follow(const std::optional<ScalingTarget>&);

private:
    struct Worker {
        std::uint32_t number = 0;
        std::int64_t ranks = 1;
    };
    struct Truth {  // how long a pass really takes
        double base = 0.005;
        double per_0 = 0.0;
        double per_1 = 0.0;
        double noise = 0.02;
    };
    void choose_config();
    void choose_capabilities();
    std::optional<WorkerCounts> counts();
    void list(Role);

    Dice dice_;
    PlannerConfig config_;
    PerRole<Capabilities> capabilities_;
    PerRole<std::vector<ForwardPass>> bootstrap_;
    PerRole<Truth> truth_;
    PerRole<std::vector<Worker>> fleet_;
    PerRole<std::vector<EngineObservation>> engines_;
    PerRole<double> level_{0.3, 0.3};  // of load, drifting
    std::uint32_t workers_ever_ = 0;
    bool lone_point_ = false;  // every pass alike: the degenerate fits
};

}  // namespace dynaplan::reference
