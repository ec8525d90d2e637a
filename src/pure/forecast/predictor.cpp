#include "forecast/predictor.hpp"

#include <cmath>

#include "core/assert.hpp"
#include "forecast/constant.hpp"
#include "forecast/kalman.hpp"

namespace dynaplan::forecast {

void Predictor::add(double value) {
    if (std::isnan(value)) value = 0.0;
    if (bounded()) {
        if (std::isinf(value)) return;
        if (value < 0.0) value = 0.0;
    }
    if (value != 0.0) seen_nonzero_ = true;
    if (!seen_nonzero_) return;
    ++points_;
    last_ = value;
    take(value);
}

Result<double> Predictor::predict() {
    if (points_ == 0) return 0.0;
    auto value = forecast();
    if (!value || !bounded()) return value;
    if (!std::isfinite(*value)) return failure("forecast: the result is not finite");
    if (*value < 0.0) return 0.0;
    return value;
}

std::unique_ptr<Predictor> make_predictor(const PlannerConfig& config) {
    const ForecastBound bound = config.policy.forecast_bound;
    switch (config.load_predictor) {
        case LoadPredictor::constant: return std::make_unique<Constant>(bound);
        case LoadPredictor::kalman: return std::make_unique<Kalman>(kalman_config(config), bound);
    }
    DYNAPLAN_ASSERT(false);
}

}  // namespace dynaplan::forecast
