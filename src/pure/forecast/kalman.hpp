// A Kalman filter with a local linear trend: state (level, trend), one value a window, forecast one window
// ahead (specification, traffic and profiles 4.4). log1p: the filter runs on log1p(max(0, value)) and the
// forecast is max(0, expm1(level)).
//
// Policies. `kalman_warmup: last_value` answers the last value until `kalman_min_points` values are stored.
// `forecast_bound: zero` also holds in the filter: a level that falls below 0 is set to 0, in the forecast
// and in the update that follows, and a falling trend is dropped with it, because a series that stands at 0
// does not fall any further. So the values that come when load returns are compared with 0 and no trend,
// never with a negative level that they would have to work off first (case A12). The covariance is left as it
// is. A state that overflowed starts again with the next value.
#pragma once

#include <array>
#include <cstdint>

#include "forecast/predictor.hpp"

namespace dynaplan::forecast {

struct KalmanConfig {
    double q_level = 1.0;         // process noise of the level, variance per window
    double q_trend = 0.1;         // and of the trend
    double r = 10.0;              // measurement noise, variance
    bool log1p = false;           // filter and noises are on the logarithmic scale then
    std::int64_t min_points = 0;  // fewer: the last value is the forecast
};
[[nodiscard]] KalmanConfig kalman_config(const PlannerConfig& config);

class Kalman final : public Predictor {
public:
    Kalman(const KalmanConfig& config, ForecastBound bound);

    // The filter's inside, on its own scale: (level, trend), and their covariance by rows.
    [[nodiscard]] const std::array<double, 2>& state() const { return state_; }
    [[nodiscard]] const std::array<double, 4>& covariance() const { return covariance_; }

private:
    void take(double value) override;
    Result<double> forecast() override;
    void archive_own(StateWriter& a) override { archive_members(a); }
    void archive_own(StateReader& a) override { archive_members(a); }

    template <class Archive>
    void archive_members(Archive& a) {
        a(started_, predicted_, state_, covariance_);
    }

    void predict_step();
    void update_step(double measured);
    void keep_level_nonnegative();

    KalmanConfig config_;
    bool started_ = false;    // the first value has set the level
    bool predicted_ = false;  // the state is already one window ahead of the last value
    std::array<double, 2> state_{};
    std::array<double, 4> covariance_;
};

}  // namespace dynaplan::forecast
