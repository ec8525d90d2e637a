#include "sim/arrivals.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

using namespace dynaplan;
using namespace dynaplan::sim;

namespace {

std::vector<Arrival> arrivals_until(const TrafficConfig& config, double end, std::uint64_t seed = 1) {
    Arrivals arrivals{config, TimePoint{}, Random{seed}};
    std::vector<Arrival> all;
    while (const auto a = arrivals.next()) {
        if (seconds_of(a->at) >= end) break;
        all.push_back(*a);
    }
    return all;
}

double count_between(const std::vector<Arrival>& all, double from, double to) {
    double n = 0.0;
    for (const Arrival& a : all) n += seconds_of(a.at) >= from && seconds_of(a.at) < to;
    return n;
}

// A Poisson count lies within five deviations of its mean.
void check_count(double n, double mean) { CHECK(std::abs(n - mean) < 5.0 * std::sqrt(mean) + 1.0); }

}  // namespace

TEST_CASE("arrivals: constant load comes at its rate, gaps of a Poisson process") {
    TrafficConfig t;
    t.load.rate = 20.0;
    const auto all = arrivals_until(t, 1000.0);
    check_count(static_cast<double>(all.size()), 20'000.0);
    double squares = 0.0;
    for (std::size_t i = 1; i < all.size(); ++i)
        squares += std::pow(20.0 * (all[i].at - all[i - 1].at).count(), 2);
    // The second moment of an exponential gap is twice the square of its mean.
    CHECK(squares / static_cast<double>(all.size()) == doctest::Approx(2.0).epsilon(0.1));
}

TEST_CASE("arrivals: each shape has its rate at each time") {
    Load l{Shape::ramp, 10.0, 30.0, Seconds{100}, Seconds{200}, Seconds{1000}};
    CHECK(l.rate_at(Seconds{50}) == 10.0);
    CHECK(l.rate_at(Seconds{200}) == doctest::Approx(20.0));
    CHECK(l.rate_at(Seconds{500}) == 30.0);
    l.shape = Shape::step;
    CHECK(l.rate_at(Seconds{99}) == 10.0);
    CHECK(l.rate_at(Seconds{100}) == 30.0);
    l.shape = Shape::spike;
    CHECK(l.rate_at(Seconds{50}) == 10.0);
    CHECK(l.rate_at(Seconds{250}) == 30.0);
    CHECK(l.rate_at(Seconds{350}) == 10.0);
    CHECK(l.rate_at(Seconds{1150}) == 30.0);
    l.shape = Shape::diurnal;
    CHECK(l.rate_at(Seconds{0}) == doctest::Approx(10.0));
    CHECK(l.rate_at(Seconds{250}) == doctest::Approx(20.0));
    CHECK(l.rate_at(Seconds{500}) == doctest::Approx(30.0));
    l.shape = Shape::onoff;
    CHECK(l.rate_at(Seconds{100}) == 30.0);
    CHECK(l.rate_at(Seconds{300}) == 10.0);
    l.until = Seconds{50};
    CHECK(l.rate_at(Seconds{100}) == 0.0);
}

TEST_CASE("arrivals: a step doubles what comes") {
    TrafficConfig t;
    t.load = {Shape::step, 10.0, 20.0, Seconds{500}};
    const auto all = arrivals_until(t, 1000.0);
    check_count(count_between(all, 0, 500), 5'000.0);
    check_count(count_between(all, 500, 1000), 10'000.0);
}

TEST_CASE("arrivals: on and off") {
    TrafficConfig t;
    t.load = {Shape::onoff, 0.0, 10.0, Seconds{0}, Seconds{100}, Seconds{400}};
    const auto all = arrivals_until(t, 800.0);
    CHECK(count_between(all, 100, 400) == 0.0);
    check_count(count_between(all, 400, 500), 1'000.0);
}

TEST_CASE("arrivals: an end, a rate of 0 and a step down to 0 end the search") {
    TrafficConfig t;
    t.load.until = Seconds{10};
    Arrivals a{t, TimePoint{}, Random{1}};
    int n = 0;
    while (a.next()) ++n;
    CHECK(n > 0);
    t.load = {Shape::constant, 0.0, 0.0};
    CHECK_FALSE(Arrivals(t, TimePoint{}, Random{1}).next());
    t.load = {Shape::step, 10.0, 0.0, Seconds{10}};
    Arrivals stepped{t, TimePoint{}, Random{1}};
    n = 0;
    while (stepped.next()) ++n;
    check_count(n, 100.0);
}

TEST_CASE("arrivals: lengths are fixed, or lognormal with the given mean, within their bound") {
    TrafficConfig t;
    t.isl = {3000.0, 0.0, 30'000};
    t.osl = {300.0, 0.8, 600};
    double sum = 0.0;
    const auto all = arrivals_until(t, 2000.0);
    bool bounded = true;
    for (const Arrival& a : all) {
        CHECK(a.isl == 3000);
        bounded = bounded && a.osl >= 1 && a.osl <= 600;
    }
    CHECK(bounded);
    t.osl.most = 1'000'000;
    for (const Arrival& a : arrivals_until(t, 2000.0)) sum += static_cast<double>(a.osl);
    CHECK(sum / static_cast<double>(all.size()) == doctest::Approx(300.0).epsilon(0.05));
}

TEST_CASE("arrivals: what cannot be drawn is named") {
    TrafficConfig t;
    CHECK(problems(t).empty());
    t.load.rate = -1.0;
    t.isl.mean = 0.0;
    t.kv_hit_rate = 1.0;
    CHECK(problems(t).size() == 3);
    for (const Shape s :
         {Shape::constant, Shape::ramp, Shape::step, Shape::spike, Shape::diurnal, Shape::onoff}) {
        CHECK(shape_from(to_string(s)) == s);
    }
    CHECK_FALSE(shape_from("square"));
}
