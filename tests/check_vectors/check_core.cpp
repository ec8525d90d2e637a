// Golden decision traces: a configuration and the inputs of every tick; decisions, diagnostics and models
// out.
#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "check_vectors/kinds.hpp"
#include "check_vectors/model_json.hpp"
#include "check_vectors/observation.hpp"
#include "core/config_field.hpp"
#include "plan/rules.hpp"

namespace dynaplan::check_vectors {

namespace {

using nlohmann::json;

constexpr Tolerance tolerance = float_1e9;
constexpr Tolerance at_tolerance{0.0, 1e-9};

FieldValue field_value(const json& v) {
    if (v.is_null()) return std::monostate{};
    if (v.is_boolean()) return v.get<bool>();
    if (v.is_number_integer()) return v.get<std::int64_t>();
    if (v.is_number()) return v.get<double>();
    return v.get<std::string>();
}

// The effective configuration is what the reference's validation left: it is taken as it stands.
PlannerConfig config_of_scenario(const json& effective) {
    PlannerConfig config = config_of(Preset::dynamo);
    for (const auto& [name, value] : effective.items()) {
        const Field* field = find_field(name);
        if (field == nullptr) throw std::runtime_error("effective_config: unknown field " + name);
        const Result<FieldValue> taken = coerce(*field, field_value(value));
        if (!taken) throw std::runtime_error("effective_config: " + name + ": " + taken.error().message);
        field->set(config, *taken);
    }
    return config;
}

std::optional<std::int64_t> optional_count(const json& object, const char* name) {
    if (!object.is_object() || !object.contains(name) || object[name].is_null()) return std::nullopt;
    return object[name].get<std::int64_t>();
}

Capabilities capabilities_of(const json& o) {
    Capabilities c;
    if (const auto n = optional_count(o, "num_gpu")) c.num_gpu = Gpus{*n};
    c.max_num_batched_tokens = optional_count(o, "max_num_batched_tokens");
    c.max_num_seqs = optional_count(o, "max_num_seqs");
    c.context_length = optional_count(o, "context_length");
    c.max_kv_tokens = optional_count(o, "max_kv_tokens");
    return c;
}

PerRole<Capabilities> both_capabilities(const json& o) {
    if (!o.is_object()) return {};
    return {capabilities_of(o.value("prefill", json())), capabilities_of(o.value("decode", json()))};
}

std::optional<Replicas> optional_replicas(const json& object, const char* name) {
    const auto n = optional_count(object, name);
    return n ? std::optional{Replicas{*n}} : std::nullopt;
}

Traffic traffic_of(const json& o) {
    Traffic t;
    t.duration = Seconds{number(o.at("duration_s"))};
    t.num_req = number(o.at("num_req"));
    t.isl = number(o.at("isl"));
    t.osl = number(o.at("osl"));
    if (o.contains("kv_hit_rate")) t.kv_hit_rate = optional_number(o["kv_hit_rate"]);
    return t;
}

ScheduledTick tick_of(const json& o) {
    ScheduledTick t;
    t.at = at_seconds(number(o.at("at_s")));
    t.run_load = o.at("run_load_scaling").get<bool>();
    t.run_throughput = o.at("run_throughput_scaling").get<bool>();
    t.need_traffic = o.at("need_traffic_metrics").get<bool>();
    t.traffic_duration = Seconds{number(o.at("traffic_metrics_duration_s"))};
    t.need_worker_states = o.at("need_worker_states").get<bool>();
    t.need_fpm = o.at("need_worker_fpm").get<bool>();
    return t;
}

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

// Names to dense indices, and the lists of a tick in the form that the rules take.
class Engines {
public:
    std::vector<EngineObservation> list(Role role, const json& observations) {
        std::vector<EngineObservation> out;
        for (const json& o : observations) {
            const Fpm fpm = observation(o);
            EngineObservation& e = out.emplace_back();
            const auto worker = static_cast<WorkerIndex>(workers_.size());
            e.worker = workers_.try_emplace(fpm.worker_id, worker).first->second;
            const auto engine = static_cast<EngineIndex>(engines_[role].size());
            e.engine = engines_[role].try_emplace({fpm.worker_id, fpm.dp_rank}, engine).first->second;
            e.dp_rank = fpm.dp_rank;
            e.pass = fpm.pass;
        }
        return out;
    }

private:
    std::map<std::string, WorkerIndex> workers_;
    PerRole<std::map<std::pair<std::string, std::int64_t>, EngineIndex>> engines_;
};

void prepare(plan::Rules& rules, const json& file) {
    rules.set_capabilities(both_capabilities(file.value("capabilities", json())));
    const json bootstrap = file.value("bootstrap", json());
    if (bootstrap.is_object()) {
        for (const auto& [name, list] : bootstrap.items()) {
            const std::optional<Role> role = role_from(name);
            if (!role) throw std::runtime_error("bootstrap: unknown role " + name);
            std::vector<ForwardPass> passes;
            for (const json& o : list) passes.push_back(observation(o).pass);
            if ((name == "agg") == (rules.config().mode == Mode::agg)) rules.bootstrap(*role, passes);
        }
    }
    const json warmup = file.value("warmup", json());
    if (warmup.is_array() && !warmup.empty()) {
        std::vector<Traffic> observations;
        for (const json& o : warmup) {
            Traffic t;
            t.num_req = number(o.at("num_req"));
            t.isl = number(o.at("isl"));
            t.osl = number(o.at("osl"));
            observations.push_back(t);
        }
        rules.warm(observations);
    }
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
bool run_tick(const json& t, plan::Rules& rules, Engines& engines, ScheduledTick& next, Report& report) {
    report.only_members("tick", t, {"in", "out", "tick", "quirk", "update_capabilities"});
    const json& in = t.at("in");
    report.only_members("in", in, {"now_s", "traffic", "worker_counts", "fpm"});
    if (t.contains("update_capabilities"))
        rules.set_capabilities(both_capabilities(t["update_capabilities"]));

    TickInput input;
    input.now = at_seconds(number(in.at("now_s")));
    if (const json o = in.value("traffic", json()); o.is_object())
        input.traffic = Reading<Traffic>::known(traffic_of(o));
    if (const json o = in.value("worker_counts", json()); o.is_object()) {
        WorkerCounts& counts = input.worker_counts.emplace();
        counts.ready = {optional_replicas(o, "ready_num_prefill"), optional_replicas(o, "ready_num_decode")};
        counts.expected = {optional_replicas(o, "expected_num_prefill"),
                           optional_replicas(o, "expected_num_decode")};
    }
    std::vector<EngineObservation> prefill;
    std::vector<EngineObservation> decode;
    if (const json o = in.value("fpm", json()); o.is_object()) {
        prefill = engines.list(
            Role::prefill, o.contains("prefill") && o["prefill"].is_array() ? o["prefill"] : json::array());
        decode = engines.list(Role::decode,
                              o.contains("decode") && o["decode"].is_array() ? o["decode"] : json::array());
        input.fpm = FpmSnapshot{prefill, decode};
    }
    const ScheduledTick tick = t.contains("tick") ? tick_of(t["tick"]) : next;
    const TickResult result = rules.on_tick(tick, input);
    next = result.next_tick;

    const json& out = t.at("out");
    report.only_members("out", out, {"scale_to", "next_tick", "diagnostics", "probe", "raises"});
    if (out.contains("raises")) {
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
    plan::Rules rules{config_of_scenario(file.at("effective_config"))};
    prepare(rules, file);
    ScheduledTick next;
    if (const json initial = file.value("initial", json()); initial.is_object()) {
        next = rules.initial_tick(at_seconds(number(initial.at("start_s"))));
        compare_tick(report, "initial.next_tick", initial.at("next_tick"), next);
    }
    Engines engines;
    std::int64_t index = 0;
    for (const json& t : file.at("ticks")) {
        report.at_step("tick " + std::to_string(index++));
        if (!run_tick(t, rules, engines, next, report)) return;
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
    if (schema != "planner-core-scenario/1") return report.fail_file("unknown schema '" + schema + "'");
    report.run_case(file.value("name", "scenario"), [&] { check_scenario(file, report); });
}

}  // namespace dynaplan::check_vectors
