#include "model/least_squares.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "model/regression.hpp"
#include "toss.hpp"

using namespace dynaplan;
using namespace dynaplan::model;

namespace {

struct Row {
    std::int64_t x0, x1;
    double wall;
};

Moments moments_of(const std::vector<Row>& rows) {
    RunningSums sums;
    for (const Row& r : rows) sums.add(r.x0, r.x1, r.wall);
    return sums.moments();
}

double residual(const std::vector<Row>& rows, double b0, double b1) {
    double mean = 0.0;
    for (const Row& r : rows)
        mean += r.wall - b0 * static_cast<double>(r.x0) - b1 * static_cast<double>(r.x1);
    mean /= static_cast<double>(rows.size());
    double sum = 0.0;
    for (const Row& r : rows) {
        const double d = r.wall - b0 * static_cast<double>(r.x0) - b1 * static_cast<double>(r.x1) - mean;
        sum += d * d;
    }
    return sum;
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("least squares: a plane is found again") {
        std::vector<Row> rows;
        for (const std::int64_t a : {1, 5, 9}) {
            for (const std::int64_t b : {1000, 20000, 70000})
                rows.push_back({a, b, 0.01 + 2e-4 * static_cast<double>(a) + 3e-8 * static_cast<double>(b)});
        }
        const Solution s = least_squares(moments_of(rows), 2);
        CHECK(s.rank == 2);
        CHECK(s.coefficient_0 == doctest::Approx(2e-4).epsilon(1e-12));
        CHECK(s.coefficient_1 == doctest::Approx(3e-8).epsilon(1e-12));
        CHECK(s.intercept == doctest::Approx(0.01).epsilon(1e-12));
    }

    TEST_CASE("least squares: equal features have no slope, the intercept is the mean") {
        const Solution s = least_squares(moments_of({{5, 7, 0.1}, {5, 7, 0.2}, {5, 7, 0.3}}), 2);
        CHECK(s.rank == 0);
        CHECK(s.coefficient_0 == 0.0);
        CHECK(s.coefficient_1 == 0.0);
        CHECK(s.intercept == doctest::Approx(0.2));
    }

    TEST_CASE("least squares: collinear features get the solution of smallest norm") {
        const Solution s = least_squares(moments_of({{1, 2, 1.0}, {2, 4, 2.0}, {3, 6, 3.0}}), 2);
        CHECK(s.rank == 1);
        CHECK(s.coefficient_0 == doctest::Approx(0.2).epsilon(1e-12));
        CHECK(s.coefficient_1 == doctest::Approx(0.4).epsilon(1e-12));
        CHECK(std::abs(s.intercept) < 1e-12);
    }

    TEST_CASE("least squares: features that are collinear but for one token keep both coefficients") {
        // KV is 100,000 per request and one token off in a single row: the determinant cancels to 1 part in
        // 1e10, far above machine epsilon squared, so the fit is still of rank 2.
        std::vector<Row> rows;
        for (std::int64_t a = 1; a <= 6; ++a) {
            const std::int64_t kv = 100'000 * a + (a == 3 ? 1 : 0);
            rows.push_back({a, kv, 0.01 + 1e-3 * static_cast<double>(a) + 2e-8 * static_cast<double>(kv)});
        }
        const Solution s = least_squares(moments_of(rows), 2);
        CHECK(s.rank == 2);
        // Wall times carry 2^-53 relative; the missing direction magnifies that by its condition number.
        CHECK(s.coefficient_0 + 100'000.0 * s.coefficient_1 == doctest::Approx(1e-3 + 2e-3).epsilon(1e-9));
        CHECK(residual(rows, s.coefficient_0, s.coefficient_1) < 1e-24);
    }

    TEST_CASE("least squares: taking a sample out undoes putting it in, to the last bit") {
        const std::vector<Row> rows{{3, 1000, 0.011}, {7, 90000, 0.0173}, {1, 5, 0.00921}, {9, 70000, 0.02}};
        const Solution before = least_squares(moments_of(rows), 2);
        RunningSums sums;
        for (const Row& r : rows) sums.add(r.x0, r.x1, r.wall);
        Toss toss{11};
        std::vector<Row> others;
        for (int i = 0; i < 500; ++i) others.push_back({toss.below(300), toss.below(4'000'000), toss.unit()});
        for (const Row& r : others) sums.add(r.x0, r.x1, r.wall);
        for (const Row& r : others) sums.remove(r.x0, r.x1, r.wall);
        const Solution after = least_squares(sums.moments(), 2);
        CHECK(after.coefficient_0 == before.coefficient_0);
        CHECK(after.coefficient_1 == before.coefficient_1);
        CHECK(after.intercept == before.intercept);
    }

    TEST_CASE(
        "nonnegative fit: no coefficient is below 0, and no point on a grid of allowed ones is better") {
        Toss toss{3};
        for (int round = 0; round < 200; ++round) {
            std::vector<Row> rows;
            const double b0 = (toss.unit() - 0.5) * 1e-3;
            const double b1 = (toss.unit() - 0.5) * 1e-6;
            for (int i = 0; i < 12; ++i) {
                const std::int64_t x0 = toss.below(100);
                const std::int64_t x1 = toss.below(100'000);
                const double wall =
                    1.0 + b0 * static_cast<double>(x0) + b1 * static_cast<double>(x1) + 0.01 * toss.unit();
                rows.push_back({x0, x1, wall});
            }
            const Solution s = nonnegative_least_squares(moments_of(rows), 2);
            REQUIRE(s.coefficient_0 >= 0.0);
            REQUIRE(s.coefficient_1 >= 0.0);
            const double found = residual(rows, s.coefficient_0, s.coefficient_1);
            for (int i = 0; i <= 20; ++i) {
                for (int k = 0; k <= 20; ++k) {
                    const double other = residual(rows, 5e-5 * i, 5e-8 * k);
                    REQUIRE(found <= other * (1.0 + 1e-9));
                }
            }
        }
    }

    TEST_CASE("regression: a negative slope is rejected by ols, explained by nonnegative") {
        ModelSettings ols;
        ols.regression_fit = RegressionFit::ols;
        ModelSettings nonnegative;
        Regression rejecting{ols};
        Regression explaining{nonnegative};
        for (const std::int64_t x : {1000, 2000, 3000, 4000, 5000}) {
            const double wall = 0.2 - 1e-5 * static_cast<double>(x);
            rejecting.add(x, 0, wall);
            explaining.add(x, 0, wall);
        }
        CHECK(rejecting.fit().state == FitState::rejected);
        CHECK(explaining.fit().accepted());
        CHECK(explaining.fit().coefficient_0 == 0.0);
        CHECK(explaining.fit()(9000.0) == doctest::Approx(0.17));
    }

    TEST_CASE("regression: the relaxed coefficient of the decode model is set to 0, others stay") {
        ModelSettings s;
        s.kind = ModelKind::decode;
        s.regression_fit = RegressionFit::ols;
        Regression r{s};
        for (const std::int64_t n : {1, 2, 4}) {
            for (const std::int64_t kv : {1000, 9000})
                r.add(n, kv, 0.05 - 1e-3 * static_cast<double>(n) + 1e-6 * static_cast<double>(kv));
        }
        CHECK(r.fit().accepted());
        CHECK(r.fit().coefficient_0 == 0.0);
        CHECK(r.fit().coefficient_1 == doctest::Approx(1e-6));
        CHECK(r.fit().intercept == doctest::Approx(0.05));
    }

    TEST_CASE("regression: exactly load_min_observations samples are enough, one less is not") {
        ModelSettings s;
        s.min_observations = 3;
        Regression r{s};
        r.add(1, 0, 0.1);
        r.add(2, 0, 0.2);
        CHECK(r.fit().state == FitState::too_few);
        r.add(3, 0, 0.3);
        CHECK(r.fit().accepted());
    }
}
