#include "replay/core_scenario.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <utility>

namespace dynaplan::replay {
namespace {

// A file with everything that one can hold, on one tick; the tests below change one text in it.
constexpr std::string_view whole = R"({
  "schema": "planner-core-scenario/1", "name": "all", "a member of a later day": [],
  "effective_config": {"optimization_target": "sla", "mode": "disagg", "ttft": 500, "itl": 40.5, "max_gpu_budget": -1},
  "capabilities": {"prefill": {"num_gpu": 2, "max_num_batched_tokens": 8192}, "decode": null},
  "bootstrap": {"prefill": [["w", 0, 0.5, [1, 2, 3.5, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13]]]},
  "warmup": [{"num_req": 10, "isl": 3000, "osl": 150}],
  "initial": {"start_s": 100.25, "next_tick": {}},
  "ticks": [
    {"tick": {"at_s": 105, "run_load_scaling": true, "run_throughput_scaling": false,
              "need_traffic_metrics": true, "traffic_metrics_duration_s": 5.0, "need_worker_states": true,
              "need_worker_fpm": false},
     "update_capabilities": {"decode": {"max_kv_tokens": 9007199254740993}},
     "in": {"now_s": 105.5,
            "traffic": {"duration_s": 5, "num_req": 0, "isl": "NaN", "osl": "Infinity", "kv_hit_rate": 0.25},
            "worker_counts": {"ready_num_prefill": 3, "expected_num_decode": 4},
            "fpm": {"prefill": [["a", 0, 1, [0,0,0,0,0,0,0], [0,0,0,0,0,0]],
                                ["b", 1, 1, [0,0,0,0,0,0,0], [0,0,0,0,0,0]],
                                ["a", 1, "NaN", [0,0,0,0,0,0,0], [0,0,0,0,0,0]]],
                    "decode": [["b", 0, 1, [0,0,0,0,0,0,"-Infinity"], [2.0,0,0,0,0,0]]]}},
     "out": {"scale_to": {"num_prefill": null, "num_decode": 2}}},
    {"in": {"now_s": 110, "fpm": {"prefill": null, "decode": [["b", 0, 1, [0,0,0,0,0,0,0], [0,0,0,0,0,0]]]}},
     "out": {"raises": "ValueError"}}
  ]})";

std::string changed(std::string_view from, std::string_view to) {
    std::string text{whole};
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

// The first problem of the file, wherever it is found; empty: none.
std::string problem_of(const std::string& text) {
    auto scenario = CoreScenario::open(text);
    if (!scenario) return scenario.error().message;
    CoreTick tick;
    for (;;) {
        const auto more = scenario->next(tick);
        if (!more) {
            CHECK(scenario->next(tick).error().message == more.error().message);
            return more.error().message;
        }
        if (!*more) return "";
    }
}

TEST_CASE("core scenario: everything of a file arrives in the types of the core") {
    auto scenario = CoreScenario::open(whole);
    REQUIRE(scenario);
    CHECK(scenario->config().mode == Mode::disagg);
    CHECK(scenario->config().preset == Preset::dynamo);
    CHECK(scenario->config().itl == Millis{40.5});
    REQUIRE(scenario->start());
    CHECK(seconds_of(*scenario->start()) == 100.25);

    CoreTick tick;
    REQUIRE(scenario->next(tick).value());
    REQUIRE(tick.scheduled);
    CHECK(seconds_of(tick.scheduled->at) == 105.0);
    CHECK(tick.scheduled->run_load);
    CHECK_FALSE(tick.scheduled->run_throughput);
    CHECK(tick.scheduled->need_traffic);
    CHECK(tick.scheduled->traffic_duration == Seconds{5.0});
    CHECK_FALSE(tick.scheduled->need_fpm);
    REQUIRE(tick.update_capabilities);
    CHECK(tick.update_capabilities->prefill == Capabilities{});
    CHECK(tick.update_capabilities->decode.max_kv_tokens == 9007199254740993);  // not through a double
    CHECK_FALSE(tick.raises);
    CHECK(tick.scale_to == ScalingTarget{std::nullopt, Replicas{2}});

    const TickInput in = tick.input();
    CHECK(seconds_of(in.now) == 105.5);
    REQUIRE(in.traffic);
    CHECK(in.traffic->value().duration == Seconds{5.0});
    CHECK(std::isnan(in.traffic->value().isl));
    CHECK(std::isinf(in.traffic->value().osl));
    CHECK(in.traffic->value().kv_hit_rate == 0.25);
    REQUIRE(in.worker_counts);
    CHECK(in.worker_counts->ready.prefill == Replicas{3});
    CHECK_FALSE(in.worker_counts->ready.decode);
    CHECK(in.worker_counts->expected.decode == Replicas{4});
    REQUIRE(in.fpm);
    REQUIRE(in.fpm->prefill.size() == 3);
    CHECK(in.fpm->prefill.data() == tick.engines->prefill.data());
    CHECK(std::isnan(in.fpm->prefill[2].pass.wall_time));
    CHECK(in.fpm->decode[0].pass.queued.num_prefill_requests == 2);
    CHECK(in.fpm->decode[0].pass.scheduled.var_decode_kv_tokens == -HUGE_VAL);

    REQUIRE(scenario->next(tick).value());
    CHECK_FALSE(tick.scheduled);
    CHECK_FALSE(tick.update_capabilities);
    CHECK_FALSE(tick.traffic);
    CHECK_FALSE(tick.worker_counts);
    CHECK(tick.raises);
    CHECK_FALSE(tick.scale_to);
    CHECK_FALSE(scenario->next(tick).value());
    CHECK_FALSE(scenario->next(tick).value());
}

TEST_CASE(
    "core scenario: engines are numbered as they first appear, each role for itself, workers together") {
    auto scenario = CoreScenario::open(whole);
    REQUIRE(scenario);
    CoreTick tick;
    REQUIRE(scenario->next(tick).value());
    const auto numbers = [](const EngineObservation& e) {
        return std::pair{number_of(e.engine), number_of(e.worker)};
    };
    CHECK(numbers(tick.engines->prefill[0]) == std::pair{0U, 0U});
    CHECK(numbers(tick.engines->prefill[1]) == std::pair{1U, 1U});
    CHECK(numbers(tick.engines->prefill[2]) == std::pair{2U, 0U});
    CHECK(tick.engines->prefill[2].dp_rank == 1);
    CHECK(numbers(tick.engines->decode[0]) == std::pair{0U, 1U});
    REQUIRE(scenario->next(tick).value());
    CHECK(numbers(tick.engines->decode[0]) == std::pair{0U, 1U});
    CHECK(scenario->engines(Role::prefill) == 3);
    CHECK(scenario->engines(Role::decode) == 1);
    CHECK(scenario->observations() == 5);
}

TEST_CASE("core scenario: the rules start with the samples of the models that the mode has") {
    const auto samples = [](const std::string& text, Role role) {
        const auto scenario = CoreScenario::open(text);
        REQUIRE(scenario);
        plan::Rules rules{scenario->config()};
        scenario->prepare(rules);
        return rules.models(role).fleet().num_observations();
    };
    CHECK(samples(std::string{whole}, Role::prefill) == 1);
    CHECK(samples(changed(R"({"prefill": [["w")", R"({"agg": [["w")"), Role::decode) == 0);
    std::string agg = changed(R"("disagg")", R"("agg")");
    CHECK(samples(agg, Role::prefill) == 0);
    agg.replace(agg.find(R"({"prefill": [["w")"), 17, R"({"agg": [["w")");
    CHECK(samples(agg, Role::decode) == 1);
}

TEST_CASE("core scenario: what may be absent may be null, too") {
    CHECK(problem_of(std::string{whole}) == "");
    CHECK(problem_of(R"({"schema":"planner-core-scenario/1","effective_config":{},"ticks":[]})") == "");
    CHECK(problem_of(R"({"schema":"planner-core-scenario/1","effective_config":{},"capabilities":null,
        "bootstrap":null,"warmup":null,"initial":null,
        "ticks":[{"tick":null,"in":{"now_s":1,"traffic":null,"worker_counts":null,"fpm":null},
                  "out":{"scale_to":null}}]})") == "");
    auto unknown = CoreScenario::open(changed(R"({"decode": {"max_kv_tokens": 9007199254740993}})", "null"));
    REQUIRE(unknown);
    CoreTick tick;
    REQUIRE(unknown->next(tick).value());
    REQUIRE(tick.update_capabilities);  // nothing is known any more
    CHECK(*tick.update_capabilities == PerRole<Capabilities>{});
}

TEST_CASE("core scenario: what is wrong is told with its place and what is wanted there") {
    struct Damage {
        std::string_view from;
        std::string_view to;
        std::string_view problem;
    };
    for (const auto& [from, to, problem] : {
             Damage{"scenario/1", "scenario/2",
                    R"(schema: must be "planner-core-scenario/1", not "planner-core-scenario/2")"},
             Damage{R"("schema")", R"("scheme")", "schema: is missing"},
             Damage{R"("ttft")", R"("ttfd")", "effective_config.ttfd: no such field; did you mean ttft?"},
             Damage{"40.5", "[]", "effective_config.itl: must be a text, not a list"},
             Damage{"40.5", "-1", "effective_config.itl: must be above 0, not -1"},
             Damage{"8192", "8192.5",
                    "capabilities.prefill.max_num_batched_tokens: must be a whole number below 2^63, "
                    "not 8192.5"},
             Damage{"9007199254740993", "9223372036854775808",
                    "ticks[0].update_capabilities.decode.max_kv_tokens: must be a whole number below 2^63, "
                    "not 9223372036854775808"},
             Damage{R"("prefill": [["w")", R"("draft": [["w")",
                    "bootstrap.draft: no such role; known are prefill, decode and agg"},
             Damage{"[8, 9, 10, 11, 12, 13]", "[8]",
                    "bootstrap.prefill[0][4]: must be a list of the 6 queued numbers, not a list"},
             Damage{R"("warmup": [)", R"("warmup": [3, )", "warmup[0]: must be an object, not 3"},
             Damage{"100.25", "null",
                    R"(initial.start_s: must be a number, "NaN", "Infinity" or "-Infinity", not null)"},
             Damage{R"("run_load_scaling": true)", R"("run_load_scaling": 1)",
                    "ticks[0].tick.run_load_scaling: must be true or false, not 1"},
             Damage{R"("now_s": 105.5,)", "", "ticks[0].in.now_s: is missing"},
             Damage{R"("NaN", "osl")", R"("nan", "osl")",
                    "ticks[0].in.traffic.isl: must be a number, \"NaN\", \"Infinity\" or \"-Infinity\", "
                    "not \"nan\""},
             Damage{R"("duration_s": 5, )", "", "ticks[0].in.traffic.duration_s: is missing"},
             Damage{R"(["b", 1, 1)", "[7, 1, 1", "ticks[0].in.fpm.prefill[1][0]: must be a text, not 7"},
             Damage{R"(["b", 1, 1)", R"(["b", 1e300, 1)",
                    "ticks[0].in.fpm.prefill[1][1]: must be a whole number below 2^63, not 1e+300"},
             Damage{R"("out": {"raises")", R"("ouch": {"raises")", "ticks[1].out: is missing"},
             Damage{R"("num_decode": 2)", R"("num_decode": "2")",
                    R"(ticks[0].out.scale_to.num_decode: must be a whole number below 2^63, not "2")"},
         }) {
        CAPTURE(from);
        CHECK(problem_of(changed(from, to)) == problem);
    }
    CHECK(problem_of("[]") == "the file: must be an object, not a list");
    CHECK(problem_of(R"({"schema":"planner-core-scenario/1","effective_config":{},"ticks":{}})") ==
          "ticks: must be a list, not an object");
}

TEST_CASE("core scenario: bytes that are no JSON, cut or nested without end are refused on one line") {
    const std::string cut = problem_of(std::string{whole.substr(0, 300)});
    CHECK(cut.starts_with("not JSON: parse error at line "));
    CHECK(problem_of(R"({"schema":")" + std::string(100'000, 'x')).size() < 300);
    for (const std::string& text :
         {std::string{}, std::string{"\x80\n\x1b["}, std::string{R"({"schema":"a)"} + '\n',
          std::string{R"({"schema":1e999})"}}) {
        const std::string problem = problem_of(text);
        CHECK(problem.starts_with("not JSON: "));
        CHECK(problem.find_first_of("\n\x1b\x80") == std::string::npos);
    }
    const std::string deep(200'000, '[');
    CHECK(problem_of(deep + std::string(200'000, ']')) == "the file: must be an object, not a list");
    CHECK(problem_of(R"({"schema":)" + deep + std::string(200'000, ']') + "}") ==
          "schema: must be a text, not a list");
}

}  // namespace
}  // namespace dynaplan::replay
