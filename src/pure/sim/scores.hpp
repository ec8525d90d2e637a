// What a run was worth: how many requests met their targets, what was allocated for it, and how often the
// targets turned round.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/role.hpp"
#include "core/units.hpp"
#include "sim/engine.hpp"

namespace dynaplan::sim {

struct TargetChange {
    TimePoint at{};
    Role role{};
    Replicas from{};
    Replicas to{};
};
struct ReplicaCount {  // one line for each change of either number
    TimePoint at{};
    Role role{};
    Replicas target{};
    Replicas serving{};
};

struct Scores {
    std::int64_t arrived = 0;
    std::int64_t finished = 0;
    std::int64_t refused = 0;  // the queue was at its bound
    std::int64_t overdue = 0;  // waits for its first token, longer than the TTFT target already
    // Parts of finished and overdue requests (itl: of finished ones) that met the target; 1 when there are
    // none.
    double ttft_attainment = 1.0;
    double itl_attainment = 1.0;
    double attainment = 1.0;  // both
    Millis ttft_median{0.0};  // of finished requests
    Millis ttft_p95{0.0};
    Millis itl_median{0.0};
    Millis itl_p95{0.0};
    Seconds gpu_time{0.0};  // GPUs x seconds, from the start of a replica's start-up to its end; whole run
    PerRole<std::int64_t> reversals;  // whole run
    Gpus gpus_most{};                 // largest number that the targets ever asked for together
};

class Scorebook {
public:
    Scorebook(Millis ttft, Millis itl) : ttft_{ttft}, itl_{itl} {}

    void arrived(TimePoint at) { arrivals_.push_back(at); }
    void refused() { ++refused_; }
    void finished(const Request& r);
    void gpu_time(Gpus n, Seconds time) { gpu_time_ += static_cast<double>(n.count()) * time; }
    void gpus_wanted(Gpus n) { gpus_most_ = n > gpus_most_ ? n : gpus_most_; }
    void target(const TargetChange& c) { targets_.push_back(c); }
    void count(const ReplicaCount& c) { counts_.push_back(c); }

    [[nodiscard]] const std::vector<TargetChange>& targets() const { return targets_; }
    [[nodiscard]] const std::vector<ReplicaCount>& counts() const { return counts_; }
    // A change of a role's target that undoes the direction of the one before, made less than `within`
    // earlier.
    [[nodiscard]] std::int64_t reversals(Role role, Seconds within) const;
    // Requests that arrived from `from` until before `to`; `overdue` of them is for the fleet to know.
    [[nodiscard]] Scores scores(TimePoint from, TimePoint to, std::int64_t overdue) const;

private:
    struct Done {
        TimePoint arrived{};
        Millis ttft{0.0};
        Millis itl{0.0};  // mean over the answer; 0 for an answer of one token
    };
    Millis ttft_;
    Millis itl_;
    std::vector<TimePoint> arrivals_;
    std::vector<Done> done_;
    std::vector<TargetChange> targets_;
    std::vector<ReplicaCount> counts_;
    std::int64_t refused_ = 0;
    Seconds gpu_time_{0.0};
    Gpus gpus_most_{};
};

inline constexpr Seconds reversal_window{600.0};  // no reversal within 10 minutes under constant load
inline constexpr TimePoint end_of_time{Seconds{std::numeric_limits<double>::infinity()}};

}  // namespace dynaplan::sim
