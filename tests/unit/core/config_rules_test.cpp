#include <doctest/doctest.h>

#include "core/config_field.hpp"

using namespace dynaplan;

namespace {

std::vector<std::string> fields_in_trouble(const PlannerConfig& c) {
    std::vector<std::string> names;
    for (const Problem& p : find_problems(c)) names.push_back(p.field);
    return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("rules: both presets are sound as they come") {
    CHECK(problems_of(config_of(Preset::dynaplan)).empty());
    CHECK(problems_of(config_of(Preset::dynamo)).empty());
}

TEST_CASE("rules: the bucket count is a perfect square") {
    PlannerConfig c;
    for (const std::int64_t good : {1, 4, 16, 64, 1024}) {
        c.fpm_sample_bucket_size = good;
        CHECK(problems_of(c).empty());
    }
    c.fpm_sample_bucket_size = 15;
    CHECK(problems_of(c) ==
          Names{"fpm_sample_bucket_size: must be a perfect square (1, 4, 9, 16, ...), not 15"});
}

TEST_CASE("rules: the load interval is below the throughput interval when both scalings are on") {
    PlannerConfig c;
    c.load_adjustment_interval = c.throughput_adjustment_interval;
    CHECK(fields_in_trouble(c) == Names{"load_adjustment_interval"});
    c.enable_throughput_scaling = false;
    CHECK(problems_of(c).empty());
    c.enable_load_scaling = false;
    CHECK(fields_in_trouble(c) == Names{"enable_load_scaling"});
    c.enable_throughput_scaling = true;
    CHECK(problems_of(c).empty());
}

TEST_CASE("rules: easy targets force their switches, so that the missing mode never shows") {
    PlannerConfig c;
    c.enable_load_scaling = false;
    c.enable_throughput_scaling = false;
    for (const auto target : {OptimizationTarget::throughput, OptimizationTarget::latency}) {
        c.optimization_target = target;
        PlannerConfig forced = c;
        force_easy_target(forced);
        CHECK(forced.enable_load_scaling);
        CHECK_FALSE(forced.enable_throughput_scaling);
        CHECK(problems_of(forced).empty());
    }
    c.optimization_target = OptimizationTarget::sla;
    force_easy_target(c);
    CHECK_FALSE(c.enable_load_scaling);
}

TEST_CASE("rules: target load needs the thresholds of its roles, up above down") {
    PlannerConfig c;
    c.optimization_target = OptimizationTarget::load;
    force_easy_target(c);
    CHECK(fields_in_trouble(c) == Names{"prefill_scale_up_queue_tokens", "prefill_scale_down_queue_tokens",
                                        "decode_scale_up_kv_rate", "decode_scale_down_kv_rate"});
    c.mode = Mode::agg;
    CHECK(fields_in_trouble(c) == Names{"decode_scale_up_kv_rate", "decode_scale_down_kv_rate"});
    c.decode_scale_up_kv_rate = 50.0;
    c.decode_scale_down_kv_rate = 50.0;
    CHECK(problems_of(c) ==
          Names{"decode_scale_up_kv_rate: must be above decode_scale_down_kv_rate (50), not 50"});
    c.decode_scale_down_kv_rate = 30.0;
    CHECK(problems_of(c).empty());
}

TEST_CASE("rules: a minimum of one role is refused where the role is not") {
    PlannerConfig c;
    c.prefill_min_endpoint = 2;
    c.decode_min_endpoint = 2;
    CHECK(problems_of(c).empty());
    c.mode = Mode::prefill;
    CHECK(problems_of(c) == Names{"decode_min_endpoint: is not allowed in mode prefill"});
    c.mode = Mode::decode;
    CHECK(problems_of(c) == Names{"prefill_min_endpoint: is not allowed in mode decode"});
    c.mode = Mode::agg;
    CHECK(problems_of(c) == Names{"prefill_min_endpoint: is not allowed in mode agg",
                                  "decode_min_endpoint: is not allowed in mode agg: use min_endpoint"});
}

// A17: a minimum that cannot fit the budget is refused at start, with the arithmetic.
TEST_CASE("rules: a minimum above the budget is refused with the arithmetic") {
    PlannerConfig c;
    c.prefill_engine_num_gpu = 2;
    c.decode_engine_num_gpu = 4;
    c.min_endpoint = 3;
    c.decode_min_endpoint = 1;
    c.max_gpu_budget = 10;
    CHECK(problems_of(c).empty());
    c.max_gpu_budget = 9;
    CHECK(problems_of(c) ==
          Names{"max_gpu_budget: the minimum does not fit: 3 prefill replicas x 2 GPUs + 1 decode "
                "replica x 4 GPUs = 10 GPUs, budget 9"});
    c.policy.infeasible_budget = InfeasibleBudget::zero;
    CHECK(problems_of(c).empty());
    c.policy.infeasible_budget = InfeasibleBudget::refuse;
    c.max_gpu_budget = -1;
    CHECK(problems_of(c).empty());
}

TEST_CASE("rules: an unknown GPU count is at least one") {
    PlannerConfig c;
    c.mode = Mode::decode;
    c.min_endpoint = 3;
    c.max_gpu_budget = 3;
    CHECK(problems_of(c).empty());
    c.max_gpu_budget = 2;
    CHECK(problems_of(c) ==
          Names{"max_gpu_budget: the minimum does not fit: 3 decode replicas x at least 1 GPU = 3 "
                "GPUs, budget 2"});
}

// A21: zero is a value.
TEST_CASE("rules: a minimum of 0 fits a budget of 0") {
    PlannerConfig c;
    c.min_endpoint = 0;
    c.max_gpu_budget = 0;
    CHECK(problems_of(c).empty());
    CHECK(c.minimum(Role::decode) == Replicas{0});
    CHECK(PlannerConfig{}.minimum(Role::decode) == Replicas{1});
}

TEST_CASE("rules: the reference's lenient values stay allowed under preset dynamo") {
    PlannerConfig c = config_of(Preset::dynamo);
    c.max_num_fpm_samples = 1;
    c.min_endpoint = 4;
    c.max_gpu_budget = 1;
    c.throughput_adjustment_interval = Seconds{1.0};
    CHECK(problems_of(c).empty());
    c = PlannerConfig{};
    c.max_num_fpm_samples = 1;
    CHECK(fields_in_trouble(c) == Names{"load_min_observations"});
}

TEST_CASE("rules: a configuration made by code is held to the bounds, too") {
    PlannerConfig c;
    c.ttft = Millis{-1.0};
    c.max_num_fpm_samples = 0;
    c.load_min_observations = 0;
    CHECK(fields_in_trouble(c) == Names{"ttft", "max_num_fpm_samples", "load_min_observations"});
}
