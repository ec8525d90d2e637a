#include "model/role_model.hpp"

#include <doctest/doctest.h>

using namespace dynaplan;
using namespace dynaplan::model;

namespace {

constexpr EngineIndex first{0};
constexpr EngineIndex second{1};

ForwardPass prompt(std::int64_t tokens, double wall) {
    ForwardPass p;
    p.wall_time = wall;
    p.scheduled.num_prefill_requests = 1;
    p.scheduled.sum_prefill_tokens = tokens;
    return p;
}

double at_slope(std::int64_t tokens, double slope) { return 0.01 + slope * static_cast<double>(tokens); }

void teach(RoleModel& models, EngineIndex engine, double slope, int passes) {
    for (int i = 0; i < passes; ++i) {
        const std::int64_t tokens = 1000 + 500 * (i % 7);
        models.observe(engine, prompt(tokens, at_slope(tokens, slope)), at_seconds(i));
    }
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("role model: an engine answers for itself from min_observations samples on, the fleet before") {
        RoleModel models{RoleModelSettings{}};
        teach(models, first, 1e-4, 10);
        teach(models, second, 2e-4, 4);
        CHECK(models.fit(second)(1000.0) == doctest::Approx(at_slope(1000, 1e-4)));
        teach(models, second, 2e-4, 1);
        CHECK(models.fit(second)(1000.0) == doctest::Approx(at_slope(1000, 2e-4)));
        CHECK(models.fit(first)(1000.0) == doctest::Approx(at_slope(1000, 1e-4)));
    }

    TEST_CASE("role model: the fleet learns from engines that are seasoned, from all while none is") {
        RoleModel models{RoleModelSettings{}};
        teach(models, first, 1e-4, 4);
        CHECK(models.fleet().num_observations() == 4);
        teach(models, first, 1e-4, 4);
        CHECK(models.fleet().num_observations() == 8);
        teach(models, second, 1e-4, 4);
        CHECK(models.fleet().num_observations() == 8);
        teach(models, second, 1e-4, 1);
        CHECK(models.fleet().num_observations() == 9);
    }

    TEST_CASE("role model: a warm-up pass of more than three times the prediction is set aside") {
        RoleModel models{RoleModelSettings{}};
        teach(models, first, 1e-4, 10);
        const double expected = at_slope(2000, 1e-4);
        CHECK(models.observe(second, prompt(2000, 2.9 * expected), at_seconds(20.0)));
        CHECK_FALSE(models.observe(second, prompt(2000, 3.1 * expected), at_seconds(21.0)));
        CHECK(models.num_observations(second) == 1);
    }

    TEST_CASE("role model: after thirty passes nothing is warm-up any more") {
        RoleModel models{RoleModelSettings{}};
        teach(models, first, 1e-4, static_cast<int>(RoleModel::warmup_passes));
        CHECK(models.observe(first, prompt(2000, 5.0), at_seconds(99.0)));
    }

    TEST_CASE("role model: without a trusted prediction nothing is an outlier") {
        RoleModel models{RoleModelSettings{}};
        teach(models, first, 1e-4, 4);
        CHECK(models.observe(first, prompt(2000, 50.0), at_seconds(9.0)));
    }

    TEST_CASE("role model: bootstrap samples belong to the fleet") {
        RoleModel models{RoleModelSettings{}};
        for (const std::int64_t tokens : {1000, 2000, 3000, 4000, 5000})
            models.bootstrap(prompt(tokens, at_slope(tokens, 1e-4)));
        CHECK(models.fleet().num_observations() == 5);
        CHECK(models.fit(first)(8000.0) == doctest::Approx(at_slope(8000, 1e-4)));
    }

    TEST_CASE("role model: a forgotten engine starts anew, and the fleet keeps what it learnt") {
        RoleModel models{RoleModelSettings{}};
        teach(models, first, 1e-4, 10);
        models.forget(first);
        CHECK(models.fleet().num_observations() == 10);
        CHECK(models.num_observations(first) == 0);
        teach(models, second, 3e-4, 2);
        CHECK(models.fleet().num_observations() == 12);  // none is seasoned again
    }

    TEST_CASE("role model: under regression_scope fleet one model answers for all") {
        RoleModelSettings s;
        s.scope = RegressionScope::fleet;
        s.warmup_outlier = 0.0;
        RoleModel models{s};
        teach(models, first, 1e-4, 10);
        teach(models, second, 3e-4, 10);
        CHECK(&models.fit(first) == &models.fit(second));
        CHECK(models.fleet().num_observations() == 20);
    }

    TEST_CASE(
        "engine model: an idle heartbeat is no sample; it enters counted averages and ages timed ones") {
        ModelSettings counted;
        counted.averages = Averages::counted;
        ModelSettings timed;
        EngineModel by_count{counted};
        EngineModel by_time{timed};
        for (EngineModel* m : {&by_count, &by_time}) {
            m->observe(prompt(1000, 0.1), at_seconds(0.0));
            m->observe(ForwardPass{}, at_seconds(1.0));
            CHECK(m->num_observations() == 1);
        }
        CHECK(by_count.avg_num_prefill(at_seconds(1.0)) == 0.5);
        CHECK(by_time.avg_num_prefill(at_seconds(1.0)) == 1.0);
        CHECK(by_time.avg_isl(at_seconds(100.0)) == 0.0);
        CHECK(by_count.avg_isl(at_seconds(100.0)) == 1000.0);
    }
}
