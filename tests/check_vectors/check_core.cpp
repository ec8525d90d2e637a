// Golden decision traces: a configuration and the inputs of every tick; decisions, diagnostics and models
// out.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "check_vectors/kinds.hpp"
#include "check_vectors/model_json.hpp"
#include "plan/rules.hpp"
#include "replay/core_scenario.hpp"

namespace dynaplan::check_vectors {

namespace {

using nlohmann::json;

constexpr Tolerance tolerance = float_1e9;
constexpr Tolerance at_tolerance{0.0, 1e-9};

json json_of_tick(const ScheduledTick& t) {
    return {{"at_s", json_of(seconds_of(t.at))},
            {"run_load_scaling", t.run_load},
            {"run_throughput_scaling", t.run_throughput},
            {"need_traffic_metrics", t.need_traffic},
            {"traffic_metrics_duration_s", json_of(t.traffic_duration.count())},
            {"need_worker_states", t.need_worker_states},
            {"need_worker_fpm", t.need_fpm}};
}

void compare_tick(Report& report, std::string_view field, const json& expected, const ScheduledTick& got) {
    json want = expected;
    json have = json_of_tick(got);
    if (want.contains("at_s")) {
        report.compare(std::string{field} + ".at_s", want["at_s"], have["at_s"], at_tolerance);
        want.erase("at_s");
    }
    report.compare_members(field, want, have, tolerance);
}

json json_or_null(const std::optional<double>& v) { return v ? json_of(*v) : json(); }
json json_or_null(const std::optional<Millis>& v) { return v ? json_of(v->count()) : json(); }
json json_or_null(const std::optional<Reason>& v) { return v ? json(to_string(*v)) : json(); }
json json_or_null(const std::optional<Replicas>& v) { return v ? json(v->count()) : json(); }

json json_of_diagnostics(const Diagnostics& d) {
    return {{"estimated_ttft_ms", json_or_null(d.estimated_ttft)},
            {"estimated_itl_ms", json_or_null(d.estimated_itl)},
            {"predicted_num_req", json_or_null(d.predicted_num_req)},
            {"predicted_isl", json_or_null(d.predicted_isl)},
            {"predicted_osl", json_or_null(d.predicted_osl)},
            {"predicted_kv_hit_rate", json_or_null(d.predicted_kv_hit_rate)},
            {"engine_rps_prefill", json_or_null(d.engine_rps.prefill)},
            {"engine_rps_decode", json_or_null(d.engine_rps.decode)},
            {"throughput_lower_bound_prefill", d.throughput_lower_bound.prefill.count()},
            {"throughput_lower_bound_decode", d.throughput_lower_bound.decode.count()},
            {"load_decision_reason", json_or_null(d.load_decision_reason)},
            {"throughput_decision_reason", json_or_null(d.throughput_decision_reason)},
            {"load_decision_reason_prefill", json_or_null(d.load_decision_reason_of.prefill)},
            {"load_decision_reason_decode", json_or_null(d.load_decision_reason_of.decode)},
            {"throughput_decision_reason_prefill", json_or_null(d.throughput_decision_reason_of.prefill)},
            {"throughput_decision_reason_decode", json_or_null(d.throughput_decision_reason_of.decode)}};
}

void check_probe(Report& report, const json& probe, const plan::Rules& rules) {
    for (const auto& [name, value] : probe.items()) {
        if (name == "last_kv_hit_rate") {
            report.compare("probe." + name, value, json_or_null(rules.last_kv_hit_rate()), tolerance);
        } else if (name.starts_with("num_obs_")) {
            const std::optional<Role> role = role_from(name.substr(8));
            if (!role) {
                report.fail("probe." + name, "unknown member");
                continue;
            }
            report.compare("probe." + name, value, rules.models(*role).fleet().num_observations());
        } else {
            report.fail("probe." + name, "unknown member");
        }
    }
}

// False: the reference raised out of this tick, and nothing after it is to be compared.
bool run_tick(const json& t, const replay::CoreTick& read, plan::Rules& rules, ScheduledTick& next,
              Report& report) {
    report.only_members("tick", t, {"in", "out", "tick", "quirk", "update_capabilities"});
    report.only_members("in", t.at("in"), {"now_s", "traffic", "worker_counts", "fpm"});
    if (read.update_capabilities) rules.set_capabilities(*read.update_capabilities);
    const TickResult result = rules.on_tick(read.scheduled.value_or(next), read.input());
    next = result.next_tick;

    const json& out = t.at("out");
    report.only_members("out", out, {"scale_to", "next_tick", "diagnostics", "probe", "raises"});
    if (read.raises) {
        const bool held = result.diagnostics.load_decision_reason == Reason::input_not_finite ||
                          result.diagnostics.throughput_decision_reason == Reason::input_not_finite;
        if (!held || result.scale_to)
            report.differ_in_words("raises", "a hold with input_not_finite", "something else");
        return false;
    }
    json scale_to;
    if (result.scale_to) {
        scale_to = {{"num_prefill", json_or_null(result.scale_to->prefill)},
                    {"num_decode", json_or_null(result.scale_to->decode)}};
    }
    report.compare("scale_to", out.at("scale_to"), scale_to);
    compare_tick(report, "next_tick", out.at("next_tick"), result.next_tick);
    report.compare_members("diagnostics", out.at("diagnostics"), json_of_diagnostics(result.diagnostics),
                           tolerance);
    if (out.contains("probe")) check_probe(report, out["probe"], rules);
    return true;
}

void check_scenario(const json& file, Report& report) {
    report.only_members("file", file,
                        {"schema", "name", "note", "config", "effective_config", "capabilities", "bootstrap",
                         "warmup", "initial", "numerics", "ticks", "final_models", "upstream_quirk"});
    auto scenario = replay::CoreScenario::open(file.dump());
    if (!scenario) throw std::runtime_error(scenario.error().message);
    plan::Rules rules{scenario->config()};
    scenario->prepare(rules);
    ScheduledTick next;
    if (const auto start = scenario->start()) {
        next = rules.initial_tick(*start);
        compare_tick(report, "initial.next_tick", file["initial"].at("next_tick"), next);
    }
    replay::CoreTick tick;
    std::int64_t index = 0;
    for (const json& t : file.at("ticks")) {
        report.at_step("tick " + std::to_string(index++));
        const auto read = scenario->next(tick);
        if (!read) throw std::runtime_error(read.error().message);
        if (!run_tick(t, tick, rules, next, report)) return;
    }
    report.at_step("final_models");
    for (const auto& [name, expected] : file.at("final_models").items()) {
        const std::optional<Role> role = role_from(name);
        if (!role) {
            report.fail(name, "unknown model");
            continue;
        }
        compare_model(report, name, expected, rules.models(*role).fleet());
    }
}

}  // namespace

void check_core(const json& file, Report& report) {
    const std::string schema = file.value("schema", "");
    if (schema != replay::core_scenario_schema) return report.fail_file("unknown schema '" + schema + "'");
    report.run_case(file.value("name", "scenario"), [&] { check_scenario(file, report); });
}

}  // namespace dynaplan::check_vectors
