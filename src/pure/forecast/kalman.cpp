#include "forecast/kalman.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace dynaplan::forecast {
namespace {

using State = Eigen::Map<Eigen::Vector2d>;
using Covariance = Eigen::Map<Eigen::Matrix<double, 2, 2, Eigen::RowMajor>>;

// Specification, traffic and profiles 4.4: the floors of the noises and the variance before the first value.
constexpr double q_floor = 1e-12;
constexpr double r_floor = 1e-9;
constexpr double variance_at_start = 1000.0;

}  // namespace

KalmanConfig kalman_config(const PlannerConfig& config) {
    const bool waits = config.policy.kalman_warmup == KalmanWarmup::last_value;
    return {.q_level = config.kalman_q_level,
            .q_trend = config.kalman_q_trend,
            .r = config.kalman_r,
            .log1p = config.load_predictor_log1p,
            .min_points = waits ? config.kalman_min_points : 0};
}

Kalman::Kalman(const KalmanConfig& config, ForecastBound bound)
    : Predictor{bound}, config_{config}, covariance_{variance_at_start, 0.0, 0.0, variance_at_start} {
    config_.q_level = std::max(q_floor, config_.q_level);
    config_.q_trend = std::max(q_floor, config_.q_trend);
    config_.r = std::max(r_floor, config_.r);
}

void Kalman::take(double value) {
    const double measured = config_.log1p ? std::log1p(std::max(0.0, value)) : value;
    if (bounded() && !(std::isfinite(state_[0]) && std::isfinite(state_[1]))) started_ = false;
    if (!started_) {
        // The first value is the level; P stays what it was before any value.
        state_ = {measured, 0.0};
        covariance_ = {variance_at_start, 0.0, 0.0, variance_at_start};
        started_ = true;
        predicted_ = false;
        return;
    }
    if (!predicted_) predict_step();
    update_step(measured);
    predicted_ = false;
}

Result<double> Kalman::forecast() {
    if (points() < config_.min_points) return last_value();
    if (!predicted_) predict_step();
    const double level = state_[0];
    if (!config_.log1p) return level;
    const double value = std::expm1(level);
    if (std::isinf(value) && std::isfinite(level)) {
        return failure("kalman: the forecast on the logarithmic scale is too large for a number");
    }
    return std::max(0.0, value);
}

// x = F x, P = F P F' + Q with F = [[1, 1], [0, 1]].
void Kalman::predict_step() {
    State x{state_.data()};
    Covariance p{covariance_.data()};
    Eigen::Matrix2d f;
    f << 1.0, 1.0, 0.0, 1.0;
    x = (f * x).eval();
    p = (f * p * f.transpose()).eval();
    p(0, 0) += config_.q_level;
    p(1, 1) += config_.q_trend;
    keep_level_nonnegative();
    predicted_ = true;
}

// The Joseph form keeps P symmetric and positive: P = (I - K H) P (I - K H)' + K R K', with H = [1, 0].
void Kalman::update_step(double measured) {
    State x{state_.data()};
    Covariance p{covariance_.data()};
    const Eigen::Vector2d gain = p.col(0) / (p(0, 0) + config_.r);
    x += gain * (measured - x(0));
    Eigen::Matrix2d kept = Eigen::Matrix2d::Identity();
    kept.col(0) -= gain;
    p = (kept * p * kept.transpose() + gain * config_.r * gain.transpose()).eval();
    keep_level_nonnegative();
}

void Kalman::keep_level_nonnegative() {
    if (!bounded() || !(state_[0] < 0.0) || std::isinf(state_[0])) return;
    state_[0] = 0.0;
    state_[1] = std::max(0.0, state_[1]);
}

}  // namespace dynaplan::forecast
