#include "forecast/kalman.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace dynaplan::forecast {
namespace {

Kalman reference(KalmanConfig config = {}) { return Kalman{config, ForecastBound::none}; }
Kalman bounded(KalmanConfig config = {}) { return Kalman{config, ForecastBound::zero}; }

TEST_CASE("kalman: the specification's series gives its forecasts") {
    const std::array series{10.0, 12.0, 15.0, 11.0, 20.0};
    const std::array expected{10.0, 12.984584783689707, 17.874297060527677, 11.686560758044756,
                              19.63068825380018};
    Kalman k = reference();
    for (std::size_t i = 0; i < series.size(); ++i) {
        k.add(series.at(i));
        CHECK(k.predict().value() == doctest::Approx(expected.at(i)).epsilon(1e-12));
    }
}

TEST_CASE("kalman: the first point sets the level and leaves the covariance alone") {
    Kalman k = reference();
    k.add(50.0);
    CHECK(k.state() == std::array{50.0, 0.0});
    CHECK(k.covariance() == std::array{1000.0, 0.0, 0.0, 1000.0});
    CHECK(k.predict().value() == 50.0);
    CHECK(k.covariance()[0] == 2001.0);
    CHECK(k.covariance()[3] == 1000.1);
}

TEST_CASE("kalman: asking twice, or not at all, changes nothing") {
    Kalman asked = reference();
    Kalman silent = reference();
    for (const double v : {10.0, 14.0, 9.0, 30.0, 31.0}) {
        asked.add(v);
        const double first = asked.predict().value();
        CHECK(asked.predict().value() == first);
        silent.add(v);
    }
    CHECK(silent.predict().value() == asked.predict().value());
    CHECK(silent.covariance() == asked.covariance());
}

TEST_CASE("kalman: noises have a floor, so a filter of zeros still divides by something") {
    Kalman k = reference({.q_level = 0.0, .q_trend = -1.0, .r = 0.0});
    for (const double v : {5.0, 5.0, 5.0, 8.0}) k.add(v);
    CHECK(std::isfinite(k.predict().value()));
}

TEST_CASE("kalman: without a bound a falling series is forecast below zero (Q08)") {
    Kalman k = reference();
    for (const double v : {240.0, 180.0, 120.0, 60.0, 20.0, 4.0}) k.add(v);
    CHECK(k.predict().value() < 0.0);
}

TEST_CASE("kalman: min_points answers the last value until so many points are stored (Q17)") {
    Kalman waits = reference({.min_points = 3});
    Kalman plain = reference();
    for (const double v : {10.0, 12.0}) {
        waits.add(v);
        plain.add(v);
        CHECK(waits.predict().value() == v);
    }
    waits.add(15.0);
    plain.add(15.0);
    CHECK(waits.predict().value() == plain.predict().value());
}

TEST_CASE("kalman: the policy decides whether kalman_min_points counts") {
    PlannerConfig config = config_of(Preset::dynaplan);
    config.kalman_min_points = 7;
    CHECK(kalman_config(config).min_points == 7);
    CHECK(kalman_config(config_of(Preset::dynamo)).min_points == 0);
}

TEST_CASE("kalman: log1p forecasts on the logarithmic scale and never below zero") {
    Kalman k = reference({.log1p = true});
    k.add(99.0);
    CHECK(k.state()[0] == std::log1p(99.0));
    CHECK(k.predict().value() == doctest::Approx(99.0).epsilon(1e-12));
    CHECK(k.last_value() == 99.0);
    for (const double v : {40.0, 10.0, 2.0, 0.0, 0.0}) k.add(v);
    CHECK(k.state()[1] < 0.0);
    CHECK(k.predict().value() == 0.0);
    k.add(-4.0);  // as 0 to the filter, as itself to last_value
    CHECK(std::isfinite(k.state()[0]));
}

TEST_CASE("kalman: a forecast that overflows expm1 is a failure, and passes") {
    Kalman k = reference({.log1p = true});
    for (const double v : {1e280, 1e290, 1e300, 1e307}) k.add(v);
    REQUIRE(k.state()[0] < 709.0);  // each value is representable, the next step is not
    const auto forecast = k.predict();
    REQUIRE_FALSE(forecast.has_value());
    CHECK_FALSE(forecast.error().message.empty());
    CHECK(k.last_value() == 1e307);
    for (int i = 0; i < 3; ++i) k.add(100.0);
    CHECK(k.predict().has_value());
}

// Case A12: the load falls to nothing and stays there for a while. The unbounded filter's level dives below
// zero; the bounded one stands at zero, so that the first windows of returning load count in full.
TEST_CASE("kalman: bounded forecasts stay at or above zero and follow when load returns (A12)") {
    const std::vector<double> falling{240.0, 180.0, 120.0, 60.0, 20.0, 4.0, 0.0, 0.0, 0.0};
    Kalman k = bounded({.min_points = 5});
    for (const double v : falling) {
        k.add(v);
        const double forecast = k.predict().value();
        CHECK(std::isfinite(forecast));
        CHECK(forecast >= 0.0);
        CHECK(k.state()[0] >= 0.0);
    }
    // Whatever fell before must not hold the forecast back: it is within 1 % of what a filter with the same
    // covariance says that has only ever seen idleness.
    Kalman idle = bounded({.min_points = 5});
    idle.add(1e-9);
    for (std::size_t i = 1; i < falling.size(); ++i) idle.add(0.0);
    for (const double v : {100.0, 100.0, 100.0}) {
        k.add(v);
        idle.add(v);
        CHECK(k.predict().value() >= 0.5 * v);
        CHECK(k.predict().value() >= idle.predict().value() * 0.99);
    }
    // The unbounded filter, for comparison, still drags its falling trend along.
    Kalman u = reference();
    for (const double v : falling) u.add(v);
    Kalman b = bounded();
    for (const double v : falling) b.add(v);
    u.add(100.0);
    b.add(100.0);
    CHECK(b.predict().value() >= u.predict().value());
}

TEST_CASE("kalman: the bound holds on the logarithmic scale as well") {
    Kalman k = bounded({.log1p = true});
    for (const double v : {240.0, 60.0, 4.0, 0.0, 0.0, 0.0}) {
        k.add(v);
        CHECK(k.predict().value() >= 0.0);
        CHECK(k.state()[0] >= 0.0);
    }
}

TEST_CASE("kalman: where nothing falls below zero the bound changes no bit") {
    Kalman k = bounded();
    Kalman u = reference();
    for (const double v : {100.0, 103.0, 99.0, 110.0, 104.0, 101.0}) {
        k.add(v);
        u.add(v);
        CHECK(k.predict().value() == u.predict().value());
    }
    CHECK(k.covariance() == u.covariance());
}

TEST_CASE("kalman: a bounded filter that overflowed starts again with the next value") {
    Kalman k = bounded();
    const double huge = std::numeric_limits<double>::max();
    for (const double v : {1.0, huge, huge}) k.add(v);
    CHECK_FALSE(k.predict().has_value());
    k.add(10.0);
    CHECK(k.predict().value() == 10.0);
    k.add(12.0);
    CHECK(k.predict().value() == doctest::Approx(12.984584783689707).epsilon(1e-12));
}

}  // namespace
}  // namespace dynaplan::forecast
