#include "model/least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dynaplan::model {

namespace {

// Near-collinear features lose the determinant to cancellation; from here on it is computed with 113 bits.
constexpr long double cancellation_limit = 1e-4L;
constexpr long double cut_off =
    static_cast<long double>(std::numeric_limits<double>::epsilon()) * std::numeric_limits<double>::epsilon();

double intercept_of(const Moments& m, long double b0, long double b1) {
    return static_cast<double>((m.sum_wall - b0 * m.sum_0 - b1 * m.sum_1) / static_cast<long double>(m.n));
}

Solution solution_of(const Moments& m, long double b0, long double b1, int rank) {
    return Solution{static_cast<double>(b0), static_cast<double>(b1), intercept_of(m, b0, b1), rank};
}

struct Determinant {
    long double value;
    bool cancelled;
};

using Wide = __float128;

Wide wide_determinant(const Moments& m) {
    if (m.exact) {
        return static_cast<Wide>(m.exact_spread_0) * static_cast<Wide>(m.exact_spread_1) -
               static_cast<Wide>(m.exact_cross) * static_cast<Wide>(m.exact_cross);
    }
    return static_cast<Wide>(m.spread_0) * static_cast<Wide>(m.spread_1) -
           static_cast<Wide>(m.cross) * static_cast<Wide>(m.cross);
}

Determinant determinant_of(const Moments& m) {
    const long double product = m.spread_0 * m.spread_1;
    const long double value = product - m.cross * m.cross;
    if (value > cancellation_limit * product) return {value, false};
    return {static_cast<long double>(wide_determinant(m)), true};
}

// Of the symmetric matrix of spreads; the second from the determinant, since a difference would lose it.
struct Eigenvalues {
    long double largest;
    long double smallest;
};

Eigenvalues eigenvalues_of(const Moments& m, long double determinant) {
    const long double half_trace = (m.spread_0 + m.spread_1) / 2;
    const long double half_gap = (m.spread_0 - m.spread_1) / 2;
    const long double largest = half_trace + std::sqrt(half_gap * half_gap + m.cross * m.cross);
    return {largest, largest > 0 ? std::max(determinant, 0.0L) / largest : 0.0L};
}

// Only the direction of the largest eigenvalue carries information.
Solution along_principal_axis(const Moments& m, long double largest) {
    long double v0 = m.cross;
    long double v1 = largest - m.spread_0;
    if (m.spread_0 > m.spread_1) {
        v0 = largest - m.spread_1;
        v1 = m.cross;
    }
    const long double length = std::hypot(v0, v1);
    if (length == 0) {  // equal spreads cannot have rank 1 without a cross term: one axis alone varies
        v0 = m.spread_0 >= m.spread_1 ? 1 : 0;
        v1 = 1 - v0;
    } else {
        v0 /= length;
        v1 /= length;
    }
    const long double along = (v0 * m.with_wall_0 + v1 * m.with_wall_1) / largest;
    return solution_of(m, v0 * along, v1 * along, 1);
}

Solution two_features(const Moments& m) {
    const Determinant det = determinant_of(m);
    // The trace is at least the largest eigenvalue, so this is rank 2 without looking for either.
    const long double trace = m.spread_0 + m.spread_1;
    const bool surely_full = !det.cancelled && det.value > cut_off * trace * trace;
    if (!surely_full) {
        const Eigenvalues eigen = eigenvalues_of(m, det.value);
        if (eigen.largest <= 0) return solution_of(m, 0, 0, 0);
        if (eigen.smallest <= cut_off * eigen.largest) return along_principal_axis(m, eigen.largest);
    }
    if (!det.cancelled) {
        const long double b0 = (m.spread_1 * m.with_wall_0 - m.cross * m.with_wall_1) / det.value;
        const long double b1 = (m.spread_0 * m.with_wall_1 - m.cross * m.with_wall_0) / det.value;
        return solution_of(m, b0, b1, 2);
    }
    const auto wide = [](long double x) { return static_cast<Wide>(x); };
    const Wide d = wide_determinant(m);
    const Wide s0 = m.exact ? static_cast<Wide>(m.exact_spread_0) : wide(m.spread_0);
    const Wide s1 = m.exact ? static_cast<Wide>(m.exact_spread_1) : wide(m.spread_1);
    const Wide c = m.exact ? static_cast<Wide>(m.exact_cross) : wide(m.cross);
    const Wide b0 = (s1 * wide(m.with_wall_0) - c * wide(m.with_wall_1)) / d;
    const Wide b1 = (s0 * wide(m.with_wall_1) - c * wide(m.with_wall_0)) / d;
    return solution_of(m, static_cast<long double>(b0), static_cast<long double>(b1), 2);
}

Solution first_only(const Moments& m) {
    if (m.spread_0 <= 0) return solution_of(m, 0, 0, 0);
    return solution_of(m, m.with_wall_0 / m.spread_0, 0, 1);
}

Solution second_only(const Moments& m) {
    if (m.spread_1 <= 0) return solution_of(m, 0, 0, 0);
    return solution_of(m, 0, m.with_wall_1 / m.spread_1, 1);
}

}  // namespace

Solution least_squares(const Moments& m, int features) {
    return features == 1 ? first_only(m) : two_features(m);
}

Solution nonnegative_least_squares(const Moments& m, int features) {
    const Solution free = least_squares(m, features);
    if (free.coefficient_0 >= 0 && free.coefficient_1 >= 0) return free;
    const Solution flat = solution_of(m, 0, 0, 0);
    const Solution first = m.with_wall_0 > 0 ? first_only(m) : flat;
    if (features == 1) return first;
    const Solution second = m.with_wall_1 > 0 ? second_only(m) : flat;
    // The face that explains more: the drop of the residual sum of squares is with_wall^2 / spread.
    const long double drop_0 = first.rank == 1 ? m.with_wall_0 * m.with_wall_0 / m.spread_0 : 0;
    const long double drop_1 = second.rank == 1 ? m.with_wall_1 * m.with_wall_1 / m.spread_1 : 0;
    return drop_0 >= drop_1 ? first : second;
}

SingularValues singular_values(const Moments& m) {
    const Eigenvalues eigen = eigenvalues_of(m, static_cast<long double>(wide_determinant(m)));
    const auto n = static_cast<long double>(m.n);
    return {static_cast<double>(std::sqrt(eigen.largest / n)),
            static_cast<double>(std::sqrt(eigen.smallest / n))};
}

}  // namespace dynaplan::model
