// Ordinary least squares with intercept from centred moments, for one or two features.
//
// Minimum-norm solution with the relative singular-value cut-off of the reference (machine epsilon), in
// closed form: the singular values of the centred features are the roots of the eigenvalues of the 2x2 matrix
// of spreads.
#pragma once

#include "core/policy.hpp"
#include "model/moments.hpp"

namespace dynaplan::model {

struct Solution {
    double coefficient_0 = 0.0;  // seconds per unit of the feature
    double coefficient_1 = 0.0;
    double intercept = 0.0;  // seconds
    int rank = 0;
};

Solution least_squares(const Moments&, int features);

// The same under coefficients >= 0: with at most two features the optimum is the free one, or lies on a face.
Solution nonnegative_least_squares(const Moments&, int features);

struct SingularValues {
    double largest = 0.0;
    double smallest = 0.0;
};
SingularValues singular_values(const Moments&);

}  // namespace dynaplan::model
