// The rules that every predictor shares, and the constant one.
#include "forecast/predictor.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>

#include "forecast/kalman.hpp"

namespace dynaplan::forecast {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::unique_ptr<Predictor> predictor(LoadPredictor kind, Preset preset) {
    PlannerConfig config = config_of(preset);
    config.load_predictor = kind;
    return make_predictor(config);
}

void add_all(Predictor& p, std::initializer_list<double> values) {
    for (const double v : values) p.add(v);
}

TEST_CASE("predictor: nothing stored forecasts 0, under either preset") {
    for (const auto kind : {LoadPredictor::constant, LoadPredictor::kalman}) {
        for (const auto preset : {Preset::dynamo, Preset::dynaplan}) {
            const auto p = predictor(kind, preset);
            CHECK(p->predict().value() == 0.0);
            CHECK(p->last_value() == 0.0);
            CHECK(p->points() == 0);
        }
    }
}

TEST_CASE("predictor: zeros before the first value are skipped, later ones are kept") {
    const auto p = predictor(LoadPredictor::constant, Preset::dynamo);
    add_all(*p, {0.0, 0.0, nan, -0.0});
    CHECK(p->points() == 0);
    p->add(7.0);
    CHECK(p->predict().value() == 7.0);
    p->add(0.0);
    CHECK(p->predict().value() == 0.0);
    CHECK(p->points() == 2);
}

TEST_CASE("predictor: after the warm-up the idle zeros of a fresh deployment are skipped again") {
    const auto p = predictor(LoadPredictor::constant, Preset::dynamo);
    add_all(*p, {0.0, 5.0, 6.0});
    p->reset_idle_skip();
    add_all(*p, {0.0, nan});
    CHECK(p->last_value() == 6.0);
    CHECK(p->points() == 2);
    add_all(*p, {9.0, 0.0});
    CHECK(p->last_value() == 0.0);
    CHECK(p->points() == 4);
}

TEST_CASE("predictor: NaN counts as zero once there was a value") {
    const auto p = predictor(LoadPredictor::constant, Preset::dynamo);
    add_all(*p, {4.0, nan});
    CHECK(p->predict().value() == 0.0);
    CHECK(p->points() == 2);
}

TEST_CASE("predictor: without a bound negative and infinite values pass as they are") {
    const auto p = predictor(LoadPredictor::constant, Preset::dynamo);
    p->add(-3.0);
    CHECK(p->predict().value() == -3.0);
    p->add(infinity);
    CHECK(p->predict().value() == infinity);
}

TEST_CASE("predictor: bounded by zero, negative values count as zero and infinite ones are not taken") {
    for (const auto kind : {LoadPredictor::constant, LoadPredictor::kalman}) {
        const auto p = predictor(kind, Preset::dynaplan);
        add_all(*p, {-5.0, 8.0, infinity, -infinity});
        CHECK(p->points() == 1);
        CHECK(p->predict().value() == 8.0);
        p->add(-1.0);
        CHECK(p->last_value() == 0.0);
        CHECK(p->points() == 2);
    }
}

TEST_CASE("predictor: the constant one ignores log1p") {
    PlannerConfig config = config_of(Preset::dynamo);
    config.load_predictor = LoadPredictor::constant;
    config.load_predictor_log1p = true;
    const auto p = make_predictor(config);
    p->add(123.456);
    CHECK(p->predict().value() == 123.456);
}

TEST_CASE("predictor: a saved one goes on exactly where it was") {
    for (const auto kind : {LoadPredictor::constant, LoadPredictor::kalman}) {
        const auto p = predictor(kind, Preset::dynamo);
        add_all(*p, {0.0, 10.0, 12.0, 15.0});
        p->reset_idle_skip();
        const double forecast = p->predict().value();  // the filter has stepped ahead: this is state too

        StateWriter writer;
        writer(*p);
        const std::string bytes = writer.take();
        const auto q = predictor(kind, Preset::dynamo);
        StateReader reader{bytes};
        reader(*q);
        REQUIRE(reader.at_end());

        CHECK(q->predict().value() == forecast);
        for (const double v : {0.0, 11.0, 20.0, 0.0, 3.0}) {
            p->add(v);
            q->add(v);
            CHECK(q->last_value() == p->last_value());
            CHECK(q->points() == p->points());
            CHECK(q->predict().value() == p->predict().value());
        }
    }
}

TEST_CASE("predictor: cut state is refused by its reader") {
    const auto p = predictor(LoadPredictor::kalman, Preset::dynamo);
    add_all(*p, {10.0, 12.0});
    StateWriter writer;
    writer(*p);
    const std::string bytes = writer.take();
    const auto q = predictor(LoadPredictor::kalman, Preset::dynamo);
    StateReader reader{std::string_view{bytes}.substr(0, bytes.size() - 1)};
    reader(*q);
    CHECK_FALSE(reader.ok());
}

}  // namespace
}  // namespace dynaplan::forecast
