// A naive twin of the decision rules: the specification's core semantics 1 to 9, sentence by sentence, for
// the reference's behaviour (preset dynamo) with the constant predictor. Short and slow; it shares the core's
// words with plan::Rules and no line of code. Estimates that stand on a knife's edge are counted, so that the
// comparison can leave out what rounding decides.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <Eigen/Dense>

#include "core/config.hpp"
#include "core/tick.hpp"
#include "reference/twin_model.hpp"

namespace dynaplan::reference {

struct TwinAnswer {
    std::optional<ScalingTarget> scale_to;
    Diagnostics diagnostics;
    ScheduledTick next_tick;
};

class Twin {
public:
    Twin(const PlannerConfig&, const PerRole<Capabilities>&);
    void bootstrap(Role, const std::vector<ForwardPass>&);
    ScheduledTick initial_tick(TimePoint start);
    TwinAnswer on_tick(const ScheduledTick&, const TickInput&);
    [[nodiscard]] std::int64_t edges() const { return edges_.seen; }

private:
    using Count = std::int64_t;
    using Engines = std::span<const EngineObservation>;
    struct Opinion {
        std::optional<Count> count;
        Reason reason = Reason::insufficient_data;
    };
    // One forecast series: the last value, or the Kalman filter (traffic and profiles 4.1, 4.2, 4.4).
    class Series {
    public:
        explicit Series(const PlannerConfig&);
        void add(double value);
        double forecast();

    private:
        void predict();
        bool kalman_;
        bool seen_ = false;
        bool predicted_ = false;
        double last_ = 0.0;
        Eigen::Vector2d state_{0.0, 0.0};
        Eigen::Matrix2d covariance_ = 1000.0 * Eigen::Matrix2d::Identity();
        Eigen::Matrix2d noise_ = Eigen::Matrix2d::Zero();
        double measured_noise_;
    };

    [[nodiscard]] ScheduledTick next_tick() const;
    void observe_traffic(const Traffic&);
    std::optional<ScalingTarget> throughput(const Traffic&, Diagnostics&);
    std::optional<ScalingTarget> load(const FpmSnapshot&, Diagnostics&);
    std::optional<ScalingTarget> load_single(const FpmSnapshot&, Role, Diagnostics&);
    std::optional<ScalingTarget> load_disagg(const FpmSnapshot&, Diagnostics&);
    std::optional<ScalingTarget> load_agg(const FpmSnapshot&, Diagnostics&);

    [[nodiscard]] static bool reconciled(Engines, Count ready);
    [[nodiscard]] bool in_progress(Role) const;
    [[nodiscard]] TwinModel& model(Role role) { return role == Role::prefill ? prefill_ : decode_; }

    Opinion opinion(Role, Engines, Diagnostics&);
    Opinion easy(Role, Engines);
    Opinion sla(const std::vector<double>& estimates_ms, Count ready, double target_ms,
                std::optional<Millis>& shown);
    std::vector<double> ttft_ms(Role, Engines);
    std::vector<double> itl_ms(Role, Engines);
    double walk(const Line&, double tokens, double chunk, double kv);

    double prefill_rps(double isl);
    double decode_rps(double isl, double osl);
    double agg_rps(double isl, double osl);

    [[nodiscard]] Count single_budget(Count desired, std::optional<Gpus> each) const;
    [[nodiscard]] std::pair<Count, Count> global_budget(Count prefill, Count decode) const;
    [[nodiscard]] double hit_rate(std::optional<double>) const;

    static constexpr double never = std::numeric_limits<double>::infinity();

    PlannerConfig c_;
    PerRole<Capabilities> caps_;
    TwinModel prefill_;
    TwinModel decode_;  // agg engines too
    Series num_req_, isl_, osl_, hit_;
    std::optional<double> last_hit_rate_;
    std::optional<double> forecast_hit_rate_;
    PerRole<Count> ready_{0, 0};
    PerRole<std::optional<Count>> expected_;
    PerRole<Count> floor_{1, 1};
    double next_load_ = never;
    double next_tp_ = never;
    Edges edges_;
};

}  // namespace dynaplan::reference
