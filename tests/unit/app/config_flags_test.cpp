#include "app/config_flags.hpp"

#include <doctest/doctest.h>

#include <CLI/CLI.hpp>

#include "app/command_config.hpp"
#include "config_test_files.hpp"

using namespace dynaplan;
using namespace dynaplan::app;
using Lines = std::vector<std::string>;

namespace {

struct Parsed {
    LoadedConfig loaded;
    Lines flag_warnings;
};

Parsed parse(std::vector<std::string> arguments) {
    CLI::App app;
    ConfigFlags flags;
    flags.add_to(app, true);
    std::ranges::reverse(arguments);  // as CLI11 wants them
    app.parse(arguments);
    return {load_config(flags.request(no_environment(), false)), flags.warnings()};
}

}  // namespace

TEST_CASE("flags: the flags of older planners set the fields that they became") {
    const auto p = parse({"--mode",
                          "agg",
                          "--adjustment-interval",
                          "60",
                          "--max-gpu-budget",
                          "-1",
                          "--min-endpoint",
                          "2",
                          "--ttft",
                          "400",
                          "--itl",
                          "40",
                          "--load-predictor",
                          "constant",
                          "--no-operation",
                          "--enable-throughput-scaling",
                          "--enable-loadbased-scaling",
                          "--loadbased-adjustment-interval",
                          "4",
                          "--loadbased-learning-window",
                          "32",
                          "--loadbased-scaling-down-sensitivity",
                          "70",
                          "--loadbased-min-observations",
                          "3",
                          "--prometheus-port",
                          "9090",
                          "--namespace",
                          "ns",
                          "--decode-engine-num-gpu",
                          "2"})
                       .loaded;
    CHECK(p.problems == Lines{});
    const PlannerConfig& c = p.config.planner;
    CHECK(c.mode == Mode::agg);
    CHECK(c.throughput_adjustment_interval == Seconds{60.0});
    CHECK(c.max_gpu_budget == -1);
    CHECK(c.min_endpoint == 2);
    CHECK(c.ttft == Millis{400.0});
    CHECK(c.itl == Millis{40.0});
    CHECK(c.load_predictor == LoadPredictor::constant);
    CHECK(c.advisory);
    CHECK(c.enable_throughput_scaling);
    CHECK(c.load_adjustment_interval == Seconds{4.0});
    CHECK(c.max_num_fpm_samples == 32);
    CHECK(c.load_scaling_down_sensitivity == 70);
    CHECK(c.load_min_observations == 3);
    CHECK(c.decode_engine_num_gpu == 2);
    CHECK(p.config.metrics.reporting_port == 9090);
    CHECK(p.config.deployment.dynamo_namespace == "ns");
}

TEST_CASE("flags: seconds of an old manifest are suspected") {
    const auto p = parse({"--ttft", "0.5", "--itl", "5"});
    CHECK(p.loaded.warnings == Lines{"--ttft: ttft: milliseconds are meant here; this looks like seconds",
                                     "--itl: itl: milliseconds are meant here; this looks like seconds"});
}

TEST_CASE("flags: those without a successor are taken and said to do nothing") {
    const auto p = parse({"--no-correction", "--loadbased-router-metrics-url", "http://r"});
    CHECK(p.loaded.problems == Lines{});
    CHECK(p.flag_warnings.size() == 2);
}

TEST_CASE("flags: --set reaches every field, lists too, and comes after the older flags") {
    const auto p =
        parse({"--ttft", "400", "--set", "ttft=300", "--set", "policy.trigger=tick", "--set",
               "prefill_min_endpoint=null", "--set", "etcd.endpoints=http://a:1,http://b:2", "--set",
               R"(bus.endpoints=[{"url": "tcp://h:1", "role": "prefill"}])", "--preset", "dynamo"})
            .loaded;
    CHECK(p.problems == Lines{});
    CHECK(p.config.planner.ttft == Millis{300.0});
    CHECK(p.config.planner.preset == Preset::dynamo);
    CHECK(p.config.planner.policy.trigger == Trigger::tick);
    CHECK(p.config.etcd.endpoints == Lines{"http://a:1", "http://b:2"});
    CHECK(p.config.bus.endpoints == std::vector<BusEndpoint>{{"tcp://h:1", Role::prefill}});
    CHECK(parse({"--set", "ttft"}).loaded.problems == Lines{"--set: ttft: must be a number, not \"\""});
    CHECK(parse({"--set", "=5"}).loaded.problems == Lines{"--set: : no such field"});
    CHECK(parse({"--config", ""}).loaded.problems == Lines{"--config: is empty; give a file or inline JSON"});
}

TEST_CASE("flags: an unknown flag is wrong usage") {
    CLI::App app;
    ConfigFlags flags;
    flags.add_to(app, true);
    std::vector<std::string> arguments{"--ttfft"};
    CHECK_THROWS_AS(app.parse(arguments), CLI::ExtrasError);
}

TEST_CASE("flags: `config check` needs something to check") {
    CLI::App app;
    int exit_code = 0;
    add_config_command(app, exit_code);
    std::vector<std::string> arguments{"check", "config"};
    CHECK_THROWS_AS(app.parse(arguments), CLI::RequiredError);
}
