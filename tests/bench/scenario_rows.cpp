// Golden decision traces replayed through on_tick, inputs already decoded.
#include <fstream>
#include <map>
#include <memory>

#include <nlohmann/json.hpp>

#include "bench/row.hpp"
#include "bench/samples.hpp"
#include "check_vectors/observation.hpp"
#include "core/assert.hpp"
#include "core/config_field.hpp"
#include "plan/rules.hpp"

namespace dynaplan::bench {

namespace {

using check_vectors::number;
using check_vectors::observation;
using nlohmann::json;

struct Scenario {
    struct Tick {
        TickInput input;
        std::vector<EngineObservation> prefill;
        std::vector<EngineObservation> decode;
    };
    PlannerConfig config;
    PerRole<Capabilities> capabilities;
    PerRole<std::vector<ForwardPass>> bootstrap;
    TimePoint start{};
    std::vector<std::unique_ptr<Tick>> ticks;  // spans point into them
    std::map<std::string, WorkerIndex> workers;
    PerRole<std::map<std::pair<std::string, std::int64_t>, EngineIndex>> engines;
};

FieldValue field_value(const json& v) {
    if (v.is_null()) return std::monostate{};
    if (v.is_boolean()) return v.get<bool>();
    if (v.is_number_integer()) return v.get<std::int64_t>();
    if (v.is_number()) return v.get<double>();
    return v.get<std::string>();
}

PlannerConfig read_config(const json& effective) {
    PlannerConfig config = config_of(Preset::dynamo);
    std::vector<NamedValue> values;
    for (const auto& [name, value] : effective.items()) values.emplace_back(name, field_value(value));
    DYNAPLAN_ASSERT(set_fields(config, values, false).empty());
    return config;
}

std::optional<std::int64_t> count_at(const json& o, const char* name) {
    if (!o.contains(name) || o[name].is_null()) return std::nullopt;
    return o[name].get<std::int64_t>();
}

std::optional<Replicas> replicas_at(const json& o, const char* name) {
    const auto n = count_at(o, name);
    return n ? std::optional{Replicas{*n}} : std::nullopt;
}

Capabilities read_capabilities(const json& o) {
    Capabilities c;
    if (const auto n = count_at(o, "num_gpu")) c.num_gpu = Gpus{*n};
    c.max_num_batched_tokens = count_at(o, "max_num_batched_tokens");
    c.max_num_seqs = count_at(o, "max_num_seqs");
    c.context_length = count_at(o, "context_length");
    c.max_kv_tokens = count_at(o, "max_kv_tokens");
    return c;
}

Traffic read_traffic(const json& o) {
    Traffic t{Seconds{number(o.at("duration_s"))},
              number(o.at("num_req")),
              number(o.at("isl")),
              number(o.at("osl")),
              std::nullopt,
              std::nullopt,
              std::nullopt};
    if (o.contains("kv_hit_rate")) t.kv_hit_rate = check_vectors::optional_number(o["kv_hit_rate"]);
    return t;
}

std::vector<EngineObservation> read_engines(Scenario& s, Role role, const json& list) {
    std::vector<EngineObservation> out;
    for (const json& o : list) {
        const Fpm fpm = observation(o);
        EngineObservation& e = out.emplace_back();
        const auto worker = static_cast<WorkerIndex>(s.workers.size());
        e.worker = s.workers.try_emplace(fpm.worker_id, worker).first->second;
        const auto engine = static_cast<EngineIndex>(s.engines[role].size());
        e.engine = s.engines[role].try_emplace({fpm.worker_id, fpm.dp_rank}, engine).first->second;
        e.dp_rank = fpm.dp_rank;
        e.pass = fpm.pass;
    }
    return out;
}

void read_tick(Scenario& s, const json& in) {
    Scenario::Tick& t = *s.ticks.emplace_back(std::make_unique<Scenario::Tick>());
    t.input.now = at_seconds(number(in.at("now_s")));
    if (const json o = in.value("traffic", json()); o.is_object())
        t.input.traffic = Reading<Traffic>::known(read_traffic(o));
    if (const json o = in.value("worker_counts", json()); o.is_object()) {
        WorkerCounts& counts = t.input.worker_counts.emplace();
        counts.ready = {replicas_at(o, "ready_num_prefill"), replicas_at(o, "ready_num_decode")};
        counts.expected = {replicas_at(o, "expected_num_prefill"), replicas_at(o, "expected_num_decode")};
    }
    if (const json o = in.value("fpm", json()); o.is_object()) {
        const auto list = [&](const char* name) {
            return o.contains(name) && o[name].is_array() ? o[name] : json::array();
        };
        t.prefill = read_engines(s, Role::prefill, list("prefill"));
        t.decode = read_engines(s, Role::decode, list("decode"));
        t.input.fpm = FpmSnapshot{t.prefill, t.decode};
    }
}

std::shared_ptr<Scenario> read_scenario(const std::string& name) {
    std::ifstream in{std::string{DYNAPLAN_VECTORS_DIR} + "/core/" + name + ".json"};
    DYNAPLAN_ASSERT(in.good());
    const json file = json::parse(in);
    auto s = std::make_shared<Scenario>();
    s->config = read_config(file.at("effective_config"));
    const json& caps = file.at("capabilities");
    for (const Role role : all_roles) {
        const std::string role_name{to_string(role)};
        if (caps.contains(role_name) && caps[role_name].is_object())
            s->capabilities[role] = read_capabilities(caps[role_name]);
    }
    const json bootstrap = file.value("bootstrap", json::object());  // outlives the walk over its items
    for (const auto& [role_name, list] : bootstrap.items()) {
        for (const json& o : list) s->bootstrap[*role_from(role_name)].push_back(observation(o).pass);
    }
    s->start = at_seconds(number(file.at("initial").at("start_s")));
    for (const json& tick : file.at("ticks")) {
        DYNAPLAN_ASSERT(!tick.contains("tick") && !tick.contains("update_capabilities"));
        read_tick(*s, tick.at("in"));
    }
    return s;
}

Pass replay(const Scenario& s) {
    plan::Rules rules{s.config};
    rules.set_capabilities(s.capabilities);
    for (const Role role : all_roles) rules.bootstrap(role, s.bootstrap[role]);
    ScheduledTick next = rules.initial_tick(s.start);
    return counted_pass(1, [&] {
        for (const auto& tick : s.ticks) next = rules.on_tick(next, tick->input).next_tick;
    });
}

}  // namespace

void add_scenario_rows(std::vector<Row>& rows) {
    const auto add = [&rows](const std::string& name, int ticks, double reference) {
        rows.push_back({"replay of " + name + " (" + std::to_string(ticks) + " ticks)", Unit::time, reference,
                        std::nullopt, [name](bool) -> std::function<Pass()> {
                            const auto scenario = read_scenario(name);
                            return [scenario] { return replay(*scenario); };
                        }});
    };
    add("long_disagg_diurnal_both", 260, 0.248);
    add("long_agg_diurnal_both", 220, 0.235);
    add("many_engines_24x2", 14, 0.076);
}

}  // namespace dynaplan::bench
