// How long a pass takes: wall time as a linear function of one or two features, fitted lazily over a sample
// store.
//
// States of a fit: too few samples; a sample that is not finite; rejected (a negative coefficient, which only
// `regression_fit: ols` does); accepted. Sources: specification, core semantics 4.1 and 4.4.
#pragma once

#include <cstdint>

#include "core/policy.hpp"
#include "model/least_squares.hpp"
#include "model/sample_store.hpp"

namespace dynaplan::model {

enum class ModelKind : std::uint8_t {
    prefill,  // sum_prefill_tokens
    decode,   // num_decode_requests, sum_decode_kv_tokens
    agg,      // sum_prefill_tokens, sum_decode_kv_tokens
};
constexpr int features_of(ModelKind k) { return k == ModelKind::prefill ? 1 : 2; }

enum class FitState : std::uint8_t { too_few, not_finite, rejected, accepted };

// A fitted line. Predictions are in seconds and never below `floor`.
struct Fit {
    FitState state = FitState::too_few;
    double coefficient_0 = 0.0;
    double coefficient_1 = 0.0;
    double intercept = 0.0;
    double floor = 1e-6;
    bool idle_costs_a_pass = false;  // no tokens still take the time of an empty pass
    int rank = 0;

    [[nodiscard]] bool accepted() const { return state == FitState::accepted; }
    [[nodiscard]] double operator()(double x0, double x1 = 0.0) const {
        const double wall = coefficient_0 * x0 + coefficient_1 * x1 + intercept;
        return wall < floor ? floor : wall;
    }
};

struct ModelSettings {
    ModelKind kind = ModelKind::prefill;
    std::int64_t window = 64;  // samples, and values of the counted averages
    std::int64_t buckets = 16;
    std::int64_t min_observations = 5;
    Retirement retirement = Retirement::oldest;
    AxisBounds axis_bounds = AxisBounds::robust;
    RegressionFit regression_fit = RegressionFit::nonnegative;
    EstimateFloor estimate_floor = EstimateFloor::fit_range;
    Averages averages = Averages::timed;
    Seconds averages_window{60.0};
};

class Regression {
public:
    explicit Regression(const ModelSettings&);

    void add(std::int64_t x0, std::int64_t x1, double wall);
    [[nodiscard]] std::int64_t size() const { return store_.size(); }
    [[nodiscard]] bool sufficient() const { return store_.size() >= min_observations_; }
    // Fits if samples came since the last call; O(1) unless a sample is outside the limits of the exact sums.
    [[nodiscard]] const Fit& fit() const {
        if (stale_) {
            refit(fit_);
            stale_ = false;
        }
        return fit_;
    }
    // The same into a place of the caller's, whether samples came or not.
    void refit(Fit&) const;
    [[nodiscard]] const SampleStore& store() const { return store_; }

    template <class Archive>
    void archive(Archive& a) {
        a(store_);
        stale_ = true;
    }

private:
    using FitRule = void (*)(const Moments&, ModelKind, Fit&);
    using FloorRule = double (*)(const SampleStore&, double intercept);

    ModelKind kind_;
    std::int64_t min_observations_;
    FitRule rule_;
    bool idle_costs_a_pass_;
    FloorRule floor_;
    SampleStore store_;
    mutable Fit fit_;
    mutable bool stale_ = true;
};

}  // namespace dynaplan::model
