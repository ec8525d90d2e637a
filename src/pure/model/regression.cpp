#include "model/regression.hpp"

#include <algorithm>

namespace dynaplan::model {

namespace {

// A coefficient of the decode model's request count is relaxed: so close to zero it is kept, beyond that set
// to zero.
constexpr double relaxed_tolerance = 1e-6;
constexpr double reference_floor = 1e-6;  // seconds

// Written member by member into its place: a copy of what was just written would be waited for.
void take(const Solution& s, Fit& fit) {
    fit.state = FitState::accepted;
    fit.coefficient_0 = s.coefficient_0;
    fit.coefficient_1 = s.coefficient_1;
    fit.intercept = s.intercept;
    fit.rank = s.rank;
}

// The reference: ordinary least squares, and one negative coefficient rejects all (save the relaxed one).
void fit_or_reject(const Moments& m, ModelKind kind, Fit& fit) {
    take(least_squares(m, features_of(kind)), fit);
    if (fit.coefficient_1 < 0) fit.state = FitState::rejected;
    if (fit.coefficient_0 < 0) {
        if (kind != ModelKind::decode) {
            fit.state = FitState::rejected;
        } else if (fit.coefficient_0 < -relaxed_tolerance) {
            fit.coefficient_0 = 0.0;
        }
    }
}

void fit_nonnegative(const Moments& m, ModelKind kind, Fit& fit) {
    take(nonnegative_least_squares(m, features_of(kind)), fit);
}

double floor_of_reference(const SampleStore&, double) { return reference_floor; }

// A line that cuts the axis below zero says nothing of passes smaller than those it was drawn through: none
// is predicted to be faster than the fastest that was seen. A line with an intercept needs no such floor, and
// must not have one: engines that have only been seen under load would be taken to be as slow when empty.
double floor_of_range(const SampleStore& store, double intercept) {
    return intercept < 0.0 ? std::max(reference_floor, store.wall_min()) : reference_floor;
}

}  // namespace

Regression::Regression(const ModelSettings& s)
    : kind_{s.kind},
      min_observations_{s.min_observations},
      rule_{s.regression_fit == RegressionFit::ols ? fit_or_reject : fit_nonnegative},
      idle_costs_a_pass_{s.estimate_floor == EstimateFloor::fit_range},
      floor_{s.estimate_floor == EstimateFloor::reference ? floor_of_reference : floor_of_range},
      store_{StoreSettings{features_of(s.kind), s.window, s.buckets, s.retirement, s.axis_bounds}} {}

void Regression::add(std::int64_t x0, std::int64_t x1, double wall) {
    store_.add(x0, x1, wall);
    stale_ = true;
}

void Regression::refit(Fit& fit) const {
    if (!sufficient() || store_.size() == 0) {
        fit = Fit{};
        return;
    }
    const Moments m = store_.moments();
    if (!m.finite) {
        fit = Fit{};
        fit.state = FitState::not_finite;
        return;
    }
    rule_(m, kind_, fit);
    fit.floor = floor_(store_, fit.intercept);
    fit.idle_costs_a_pass = idle_costs_a_pass_;
}

}  // namespace dynaplan::model
