// The throughput pass of a tick: traffic feeds the predictors, their forecasts meet what one engine can
// carry. Source: specification, core semantics 3 and 8, traffic and profiles 3. Cases A01, A02, A12.
//
// Policies: traffic_unknown (what is no reading feeds nothing), traffic_idle (a zero count carries the
// lengths on, and after idle_windows asks for the minimum), hit_rate (last value instead of a forecast).
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "core/config.hpp"
#include "core/reading.hpp"
#include "core/tick.hpp"
#include "forecast/predictor.hpp"
#include "plan/load_pass.hpp"

namespace dynaplan::plan {

struct ThroughputProposal {
    bool decided = false;       // replicas below are the answer of a full pass
    ScalingTarget replicas;     // at least the minimum each
    ScalingTarget with_margin;  // the same for a tenth more demand: nothing shrinks below it
    std::optional<Reason> reason;
    PerRole<std::optional<Reason>> reason_of;
    std::optional<double> demand_rps;  // forecast requests/s
};

class ThroughputPass {
public:
    explicit ThroughputPass(const PlannerConfig&);

    // Observations before the first tick; the idle zeros right after them are skipped again.
    void warm(std::span<const Traffic>);
    // A reading, on a throughput tick or (load only: hit rate alone) on a load tick.
    void observe(const Reading<Traffic>&, Seconds window, bool throughput_tick);

    // Forecasts and capacities. `reading` is what this tick observed.
    [[nodiscard]] ThroughputProposal run(const Reading<Traffic>& reading, Seconds window, TimePoint now,
                                         const PerRole<RoleFacts>&, Diagnostics&);

    [[nodiscard]] std::optional<double> last_kv_hit_rate() const { return last_kv_hit_rate_; }
    // Mean input length of the last known traffic; empty while it is idle or unknown.
    [[nodiscard]] std::optional<double> last_isl() const { return last_isl_; }
    // Idle for idle_windows throughput windows.
    [[nodiscard]] bool idle() const { return idle_time_ >= idle_after_; }
    [[nodiscard]] Seconds idle_time() const { return idle_time_; }
    [[nodiscard]] bool arrivals() const {
        return arrivals_;
    }  // the last reading counted at least one request
    // The last throughput window could not be read, and that is to hold (traffic_unknown).
    [[nodiscard]] bool unknown() const { return unknown_; }
    void reconfigure(const PlannerConfig&);

    template <class Archive>
    void archive(Archive& a) {
        for (auto* p : {&num_req_, &isl_, &osl_, &kv_hit_rate_}) (*p)->archive(a);
        a(last_kv_hit_rate_, last_isl_, idle_time_, arrivals_, unknown_);
    }

private:
    enum class Verdict : std::uint8_t { take, unknown, idle };
    using Classify = Verdict (*)(const Reading<Traffic>&);
    static Verdict classify_reference(const Reading<Traffic>&);
    static Verdict classify_strict(const Reading<Traffic>&);

    struct Forecast {
        double num_req = 0.0;
        double isl = 0.0;
        double osl = 0.0;
    };
    [[nodiscard]] std::optional<Forecast> forecast(Diagnostics&);
    void forecast_hit_rate(Diagnostics&);
    [[nodiscard]] double capacity(Role, const Forecast&, const RoleFacts&) const;
    void fill_single(Role, const Forecast&, const PerRole<RoleFacts>&, ThroughputProposal&,
                     Diagnostics&) const;
    void fill_pair(const Forecast&, const PerRole<RoleFacts>&, ThroughputProposal&, Diagnostics&) const;

    Mode mode_;
    bool enabled_;
    bool sets_floor_;  // load scaling is on as well: the result is a lower bound, not a decision
    bool carries_lengths_;
    bool forecasts_hit_rate_;
    Classify classify_;
    Millis ttft_;
    Millis itl_;
    Seconds idle_after_;
    bool hold_unknown_;
    bool relaxes_unreachable_;

    std::unique_ptr<forecast::Predictor> num_req_, isl_, osl_, kv_hit_rate_;
    std::optional<double> last_kv_hit_rate_;
    std::optional<double> forecast_kv_hit_rate_;  // of this pass; capacities use it
    std::optional<double> last_isl_;
    Seconds idle_time_{0.0};
    bool arrivals_ = false;
    bool unknown_ = false;
    TimePoint now_{};  // of the pass that runs
};

// ceil(demand / rps), at least the minimum; nothing where that is not a number a fleet can have (Q15).
[[nodiscard]] std::optional<Replicas> replicas_for(double demand_rps, double engine_rps, Replicas minimum);

}  // namespace dynaplan::plan
