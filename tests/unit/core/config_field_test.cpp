#include "core/config_field.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

using namespace dynaplan;

namespace {

FieldValue text(std::string s) { return FieldValue{std::move(s)}; }

std::string refusal(std::string_view field, const FieldValue& v) {
    const auto result = coerce(*find_field(field), v);
    return result ? "accepted as " + text_of(*result) : result.error().message;
}

bool contains(const std::vector<std::string>& lines, std::string_view part) {
    return std::ranges::any_of(lines, [part](const auto& l) { return l.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("fields: every row has a help text, a unique name and a default that its own bounds accept") {
    std::set<std::string> names;
    for (const Field& f : planner_fields()) {
        CAPTURE(f.path());
        CHECK(names.insert(f.path()).second);
        for (const auto alias : f.aliases) CHECK(names.insert(std::string{alias}).second);
        CHECK_FALSE(f.help.empty());
        CHECK(find_field(f.path()) == &f);
        for (const Preset preset : {Preset::dynamo, Preset::dynaplan}) {
            const auto value = f.get(config_of(preset));
            const auto again = coerce(f, value);
            REQUIRE(again);
            CHECK(*again == value);
        }
    }
    CHECK(find_field("nothing") == nullptr);
}

// The table must reach each member: a value other than the default, set through the row, changes what the row
// reads and nothing that another row reads.
TEST_CASE("fields: a row writes its own member and no other") {
    for (const Field& f : planner_fields()) {
        CAPTURE(f.path());
        PlannerConfig c;
        const FieldValue before = f.get(c);
        FieldValue other;
        switch (f.type) {
            case FieldType::boolean: other = !std::get<bool>(before); break;
            case FieldType::integer: other = std::int64_t{9}; break;
            case FieldType::number: other = 9.5; break;
            case FieldType::text: other = std::string{"other"}; break;
            case FieldType::enumeration: {
                const auto last = std::string{f.values.back()};
                other = before == text(last) ? text(std::string{f.values.front()}) : text(last);
                break;
            }
        }
        f.set(c, other);
        CHECK(f.get(c) == other);
        const PlannerConfig standard;
        for (const Field& g : planner_fields()) {
            if (&g == &f) continue;
            CAPTURE(g.path());
            CHECK(g.get(c) == g.get(standard));
        }
    }
}

TEST_CASE("fields: the policy has every field of the design under its name") {
    const std::vector<std::string> expected{
        "fpm_sampling",      "regression_scope",  "averages",
        "averages_window_s", "regression_fit",    "retirement",
        "warmup_outlier",    "axis_bounds",       "reconcile",
        "engine_silent_s",   "engine_stuck_s",    "partial_knowledge",
        "scaling_guard",     "guard_deadline_s",  "scale_down_check",
        "unreachable_sla",   "trigger",           "reaction_min_interval_s",
        "load_step",         "decision_step_max", "traffic_unknown",
        "traffic_idle",      "idle_windows",      "forecast_bound",
        "kalman_warmup",     "hit_rate",          "arima_search",
        "last_clamp",        "budget_clamp",      "infeasible_budget",
        "scale_to_zero",     "equal_decision",    "estimate_floor"};
    std::vector<std::string> found;
    for (const Field& f : planner_fields()) {
        if (f.section == "policy") found.emplace_back(f.name);
    }
    CHECK(found == expected);
}

TEST_CASE("fields: the two presets differ in the policy and in two switches beside it") {
    std::vector<std::string> differing;
    for (const auto& [name, value] :
         changes_between(config_of(Preset::dynamo), config_of(Preset::dynaplan))) {
        if (name.rfind("policy.", 0) != 0) differing.push_back(name);
    }
    CHECK(differing == std::vector<std::string>{"preset", "optimization_target", "enable_load_scaling"});
}

TEST_CASE("values: whole numbers are read leniently, fractions are not whole") {
    const Field& f = *find_field("min_endpoint");
    CHECK(coerce(f, text("180")) == FieldValue{std::int64_t{180}});
    CHECK(coerce(f, text(" +7 ")) == FieldValue{std::int64_t{7}});
    CHECK(coerce(f, 180.0) == FieldValue{std::int64_t{180}});
    CHECK(coerce(f, text("1.8e2")) == FieldValue{std::int64_t{180}});
    CHECK(refusal("min_endpoint", 180.5) == "must be a whole number, not 180.5");
    CHECK(refusal("min_endpoint", text("180.5")) == "must be a whole number, not 180.5");
    CHECK(refusal("min_endpoint", text("many")) == "must be a whole number, not \"many\"");
    CHECK(refusal("min_endpoint", text("")) == "must be a whole number, not \"\"");
    CHECK(refusal("min_endpoint", true) == "must be a whole number, not true");
    CHECK(refusal("throughput_adjustment_interval", 180.5) == "must be a whole number, not 180.5");
}

TEST_CASE("values: numbers that no machine holds are refused by the bound") {
    CHECK(refusal("min_endpoint", text("1180591620717411303424")) ==
          "must be at most 1000000000, not 1180591620717411303424");
    CHECK(refusal("min_endpoint", 0x1p70) == "must be at most 1000000000, not 1180591620717411303424");
    CHECK(refusal("min_endpoint", std::int64_t{-1}) == "must be at least 0, not -1");
    CHECK(refusal("ttft", 1e300) == "must be at most 31536000000, not 1e+300");
    CHECK(refusal("ttft", 0.0) == "must be above 0, not 0");
    CHECK(refusal("ttft", text("nan")) == "must be finite, not nan");
    CHECK(refusal("ttft", text("inf")) == "must be finite, not inf");
    CHECK(refusal("ttft", -std::numeric_limits<double>::infinity()) == "must be finite, not -inf");
    CHECK(refusal("min_endpoint", std::numeric_limits<double>::quiet_NaN()) == "must be finite, not nan");
}

TEST_CASE("values: switches take the words that Dynamo takes") {
    const Field& f = *find_field("advisory");
    for (const char* yes : {"true", "Yes", "1", "ON"}) CHECK(coerce(f, text(yes)) == FieldValue{true});
    for (const char* no : {"false", "no", "0", "Off"}) CHECK(coerce(f, text(no)) == FieldValue{false});
    CHECK(coerce(f, std::int64_t{1}) == FieldValue{true});
    CHECK(refusal("advisory", std::int64_t{2}) == "must be true or false, not 2");
    CHECK(refusal("advisory", text("maybe")) == "must be true or false, not \"maybe\"");
    CHECK(refusal("advisory", FieldValue{}) == "must not be null");
}

TEST_CASE("values: enumerated words are exact and lower case, and the nearest is named") {
    CHECK(coerce(*find_field("mode"), text("agg")) == FieldValue{std::string{"agg"}});
    CHECK(refusal("mode", text("disag")) ==
          "must be disagg, prefill, decode or agg, not \"disag\"; did you mean disagg?");
    CHECK(refusal("mode", text("AGG")) ==
          "must be disagg, prefill, decode or agg, not \"AGG\"; did you mean agg?");
    CHECK(refusal("mode", std::int64_t{3}) == "must be disagg, prefill, decode or agg, not 3");
    for (const char* later : {"arima", "prophet", "auto"}) {
        CHECK(refusal("load_predictor", text(later)) ==
              std::string{later} + " does not exist in Dynaplan yet: use constant or kalman");
    }
}

TEST_CASE("values: off, auto and none stand for 0 and are written again as words") {
    const Field& outlier = *find_field("policy.warmup_outlier");
    const Field& deadline = *find_field("policy.guard_deadline_s");
    const Field& step = *find_field("policy.decision_step_max");
    CHECK(coerce(outlier, text("off")) == FieldValue{0.0});
    CHECK(coerce(outlier, false) == FieldValue{0.0});
    CHECK(coerce(deadline, text("auto")) == FieldValue{0.0});
    CHECK(coerce(step, text("none")) == FieldValue{std::int64_t{0}});
    CHECK(written_form(outlier, 0.0) == text("off"));
    CHECK(written_form(deadline, 0.0) == text("auto"));
    CHECK(written_form(step, std::int64_t{0}) == text("none"));
    CHECK(written_form(step, std::int64_t{8}) == FieldValue{std::int64_t{8}});
    CHECK(refusal("policy.decision_step_max", text("off")) == "must be a whole number or none, not \"off\"");
    CHECK(refusal("policy.warmup_outlier", true) == "must be a number or off, not true");
}

TEST_CASE("fields: what belongs to something that does not exist yet is refused off its default") {
    std::vector<std::string> found;
    for (const Field& f : planner_fields()) {
        if (f.missing.empty()) continue;
        found.push_back(f.path());
        REQUIRE(f.type == FieldType::enumeration);
        for (const Preset preset : {Preset::dynamo, Preset::dynaplan}) {
            const FieldValue standard = f.get(config_of(preset));
            for (const std::string_view value : f.values) {
                PlannerConfig c = config_of(preset);
                const std::vector<NamedValue> set{{f.path(), std::string{value}}};
                const std::vector<std::string> expected{f.path() + ": " + std::string{f.missing} +
                                                        "; leave it at " + text_of(standard)};
                const bool is_standard = text(std::string{value}) == standard;
                CHECK(set_fields(c, set, false) == (is_standard ? std::vector<std::string>{} : expected));
                CHECK(f.get(c) == standard);
            }
        }
    }
    CHECK(found == std::vector<std::string>{"policy.arima_search"});
}

TEST_CASE("names: misspelt, misplaced and foreign names find the field that was meant") {
    CHECK(nearest_field("tfft") == "ttft");
    CHECK(nearest_field("max_gpu_buget") == "max_gpu_budget");
    CHECK(nearest_field("max-gpu-budget") == "max_gpu_budget");
    CHECK(nearest_field("trigger") == "policy.trigger");
    CHECK(nearest_field("policy.triger") == "policy.trigger");
    CHECK(nearest_field("policy.ttft") == "ttft");
    CHECK(nearest_field("banana") == "");
    CHECK(nearest_field("") == "");
    CHECK(nearest_field(std::string(100'000, 'x')) == "");
}

TEST_CASE("setting: all problems at once, and nothing is set with one of them") {
    PlannerConfig c;
    const std::vector<NamedValue> given{{"ttft", 400.0},
                                        {"itl", -1.0},
                                        {"min_endpiont", std::int64_t{2}},
                                        {"policy.trigger", text("tock")},
                                        {"itl", 10.0}};
    const auto problems = set_fields(c, given, false);
    CHECK(problems.size() == 4);
    CHECK(contains(problems, "itl: must be above 0, not -1"));
    CHECK(contains(problems, "itl: is given twice"));
    CHECK(contains(problems, "min_endpiont: no such field; did you mean min_endpoint?"));
    CHECK(contains(problems, "policy.trigger: must be tick or event"));
    CHECK(c.ttft == Millis{500.0});
}

TEST_CASE("setting: the August name wins over the April one, in either order") {
    for (const bool april_first : {true, false}) {
        PlannerConfig c;
        std::vector<NamedValue> given{{"ttft", 400.0}, {"ttft_ms", 300.0}};
        if (!april_first) std::swap(given[0], given[1]);
        CHECK(set_fields(c, given, false).empty());
        CHECK(c.ttft == Millis{300.0});
    }
}

TEST_CASE("setting: a preset brings its defaults, the other fields go on top") {
    PlannerConfig c;
    const std::vector<NamedValue> given{{"policy.trigger", text("event")},
                                        {"enable_load_scaling", true},
                                        {"optimization_target", text("sla")},
                                        {"preset", text("dynamo")}};
    CHECK(set_fields(c, given, false).empty());
    Policy expected = dynamo_policy();
    expected.trigger = Trigger::event;
    CHECK(c.policy == expected);
    CHECK(c.enable_load_scaling);
    CHECK(c.optimization_target == OptimizationTarget::sla);
}

TEST_CASE("setting: only fields that may change do so while running") {
    PlannerConfig c;
    CHECK(set_fields(c, std::vector<NamedValue>{{"ttft", 400.0}, {"max_gpu_budget", std::int64_t{4}}}, true)
              .empty());
    CHECK(c.ttft == Millis{400.0});
    const auto problems = set_fields(c, std::vector<NamedValue>{{"itl", 40.0}, {"mode", text("agg")}}, true);
    CHECK(problems ==
          std::vector<std::string>{"mode: may not change while running: restart with the new value"});
    CHECK(c.itl == Millis{50.0});
    // A file that is read again names everything; what is as it was is no change.
    CHECK(set_fields(c, std::vector<NamedValue>{{"itl", 40.0}, {"mode", text("disagg")}}, true).empty());
    CHECK(c.itl == Millis{40.0});
    // A change that breaks a rule is refused whole.
    CHECK(contains(
        set_fields(c, std::vector<NamedValue>{{"ttft", 100.0}, {"min_endpoint", std::int64_t{9}}}, true),
        "the minimum does not fit"));
    CHECK(c.ttft == Millis{400.0});
}

TEST_CASE("setting: the written list of values gives the same configuration again") {
    PlannerConfig c = config_of(Preset::dynamo);
    c.mode = Mode::agg;
    c.enable_load_scaling = true;
    c.optimization_target = OptimizationTarget::sla;
    c.ttft = Millis{0.1 + 0.2};
    c.decode_engine_num_gpu = 2;
    c.policy.decision_step_max = 3;
    c.policy.guard_deadline = Seconds{77.5};
    c.capabilities.decode.max_kv_tokens = 400'000;
    const auto values = values_of(c);
    CHECK(values.size() == planner_fields().size());
    CHECK(values.front().first == "preset");
    PlannerConfig again;
    CHECK(set_fields(again, values, false).empty());
    CHECK(values_of(again) == values);
    CHECK(again.policy == c.policy);
    CHECK(changes_between(again, c).empty());
    // As text, as a file holds them, too.
    std::vector<NamedValue> as_text;
    for (const auto& [name, value] : values) {
        const auto written = written_form(*find_field(name), value);
        as_text.emplace_back(name,
                             std::holds_alternative<std::monostate>(value) ? value : text(text_of(written)));
    }
    PlannerConfig third;
    CHECK(set_fields(third, as_text, false).empty());
    CHECK(values_of(third) == values);
}
