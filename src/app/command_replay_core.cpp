// Core scenario files (planner-core-scenario/1, tests/vectors/core/README.md): golden traces of the
// reference's own rules. The inputs of every tick are given to plan::Rules, and its decisions compared with
// the file's.
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>

#include "app/command_replay_job.hpp"
#include "core/config_field.hpp"
#include "plan/rules.hpp"

namespace dynaplan::app {

namespace {

using nlohmann::json;

// The largest golden file has 20 MB.
constexpr std::uint64_t scenario_bytes_max = std::uint64_t{256} << 20U;

// A number, or one of the texts that stand for the doubles that JSON lacks.
double number(const json& v) {
    if (v.is_number()) return v.get<double>();
    if (v == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (v == "Infinity") return std::numeric_limits<double>::infinity();
    if (v == "-Infinity") return -std::numeric_limits<double>::infinity();
    throw std::runtime_error("expected a number, got " + v.dump());
}

FieldValue field_value(const json& v) {
    if (v.is_null()) return std::monostate{};
    if (v.is_boolean()) return v.get<bool>();
    if (v.is_number_integer()) return v.get<std::int64_t>();
    if (v.is_number()) return v.get<double>();
    return v.get<std::string>();
}

// What the reference's validation left is taken as it stands.
PlannerConfig config_from(const json& effective) {
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

std::optional<std::int64_t> count(const json& object, const char* name) {
    if (!object.is_object() || !object.contains(name) || object[name].is_null()) return std::nullopt;
    return object[name].get<std::int64_t>();
}

std::optional<Replicas> replicas(const json& object, const char* name) {
    const auto n = count(object, name);
    return n ? std::optional{Replicas{*n}} : std::nullopt;
}

Capabilities capabilities(const json& o) {
    Capabilities c;
    if (const auto n = count(o, "num_gpu")) c.num_gpu = Gpus{*n};
    c.max_num_batched_tokens = count(o, "max_num_batched_tokens");
    c.max_num_seqs = count(o, "max_num_seqs");
    c.context_length = count(o, "context_length");
    c.max_kv_tokens = count(o, "max_kv_tokens");
    return c;
}

PerRole<Capabilities> both_capabilities(const json& o) {
    if (!o.is_object()) return {};
    return {capabilities(o.value("prefill", json())), capabilities(o.value("decode", json()))};
}

Traffic traffic_from(const json& o) {
    Traffic t;
    if (o.contains("duration_s")) t.duration = Seconds{number(o["duration_s"])};
    t.num_req = number(o.at("num_req"));
    t.isl = number(o.at("isl"));
    t.osl = number(o.at("osl"));
    if (o.contains("kv_hit_rate") && !o["kv_hit_rate"].is_null()) t.kv_hit_rate = number(o["kv_hit_rate"]);
    return t;
}

ScheduledTick tick_from(const json& o) {
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

// [worker_id, dp_rank, wall_time, [7 scheduled], [6 queued]]
ForwardPass pass_from(const json& o) {
    ForwardPass p;
    p.wall_time = number(o.at(2));
    const json& s = o.at(3);
    const json& q = o.at(4);
    p.scheduled = {s.at(0).get<std::int64_t>(),
                   s.at(1).get<std::int64_t>(),
                   number(s.at(2)),
                   s.at(3).get<std::int64_t>(),
                   s.at(4).get<std::int64_t>(),
                   s.at(5).get<std::int64_t>(),
                   number(s.at(6))};
    p.queued = {q.at(0).get<std::int64_t>(), q.at(1).get<std::int64_t>(), number(q.at(2)),
                q.at(3).get<std::int64_t>(), q.at(4).get<std::int64_t>(), number(q.at(5))};
    return p;
}

// Names to dense indices, in the order in which engines first appear.
class Names {
public:
    std::vector<EngineObservation> list(Role role, const json& observations) {
        std::vector<EngineObservation> out;
        if (!observations.is_array()) return out;
        for (const json& o : observations) {
            EngineObservation& e = out.emplace_back();
            const auto worker_id = o.at(0).get<std::string>();
            e.dp_rank = o.at(1).get<std::int64_t>();
            const auto worker = static_cast<WorkerIndex>(workers_.size());
            e.worker = workers_.try_emplace(worker_id, worker).first->second;
            const auto engine = static_cast<EngineIndex>(engines_[role].size());
            e.engine = engines_[role].try_emplace({worker_id, e.dp_rank}, engine).first->second;
            e.pass = pass_from(o);
            ++passes;
        }
        return out;
    }
    [[nodiscard]] std::int64_t known(Role role) const {
        return static_cast<std::int64_t>(engines_[role].size());
    }
    std::int64_t passes = 0;

private:
    std::map<std::string, WorkerIndex> workers_;
    PerRole<std::map<std::pair<std::string, std::int64_t>, EngineIndex>> engines_;
};

std::string text_of(const std::optional<ScalingTarget>& target) {
    if (!target) return "no change";
    const auto side = [](const std::optional<Replicas>& n) {
        return n ? std::to_string(n->count()) : std::string{"none"};
    };
    return "prefill " + side(target->prefill) + ", decode " + side(target->decode);
}

void prepare(plan::Rules& rules, const json& file) {
    rules.set_capabilities(both_capabilities(file.value("capabilities", json())));
    if (const json bootstrap = file.value("bootstrap", json()); bootstrap.is_object()) {
        for (const auto& [name, list] : bootstrap.items()) {
            const auto role = role_from(name);
            if (!role) throw std::runtime_error("bootstrap: unknown role " + name);
            std::vector<ForwardPass> passes;
            for (const json& o : list) passes.push_back(pass_from(o));
            if ((name == "agg") == (rules.config().mode == Mode::agg)) rules.bootstrap(*role, passes);
        }
    }
    if (const json warmup = file.value("warmup", json()); warmup.is_array() && !warmup.empty()) {
        std::vector<Traffic> observations;
        for (const json& o : warmup) observations.push_back(traffic_from(o));
        rules.warm(observations);
    }
}

// One tick: false when the file is not to be followed beyond it.
bool run_tick(ReplayJob& job, const InputFile& input, std::size_t index, const json& t, plan::Rules& rules,
              Names& names, ScheduledTick& next) {
    if (t.contains("update_capabilities"))
        rules.set_capabilities(both_capabilities(t["update_capabilities"]));
    const json& in = t.at("in");
    TickInput tick_input;
    tick_input.now = at_seconds(number(in.at("now_s")));
    if (const json o = in.value("traffic", json()); o.is_object())
        tick_input.traffic = Reading<Traffic>::known(traffic_from(o));
    if (const json o = in.value("worker_counts", json()); o.is_object()) {
        WorkerCounts& counts = tick_input.worker_counts.emplace();
        counts.ready = {replicas(o, "ready_num_prefill"), replicas(o, "ready_num_decode")};
        counts.expected = {replicas(o, "expected_num_prefill"), replicas(o, "expected_num_decode")};
    }
    const json fpm = in.value("fpm", json());
    PerRole<std::vector<EngineObservation>> engines;
    if (fpm.is_object()) {
        engines.prefill = names.list(Role::prefill, fpm.value("prefill", json()));
        engines.decode = names.list(Role::decode, fpm.value("decode", json()));
        tick_input.fpm = FpmSnapshot{engines.prefill, engines.decode};
    }
    const ScheduledTick tick = t.contains("tick") ? tick_from(t["tick"]) : next;
    const TickResult result = rules.on_tick(tick, tick_input);
    next = result.next_tick;

    // The report takes what a planner would have said of this tick.
    Effects effects;
    DiagnosticsReport report;
    report.diagnostics = result.diagnostics;
    report.ran_load = tick.run_load;
    report.ran_throughput = tick.run_throughput;
    if (tick_input.worker_counts) {
        report.ready = tick_input.worker_counts->ready;
        report.expected = tick_input.worker_counts->expected;
    }
    if (result.scale_to) {
        ScaleTo scale;
        scale.proposal = static_cast<ProposalId>(job.report.decisions().size());
        scale.prefill = result.scale_to->prefill;
        scale.decode = result.scale_to->decode;
        scale.reason = result.reason;
        scale.why = result.why;
        effects.push_back({tick_input.now, std::move(scale)});
    }
    effects.push_back({tick_input.now, std::move(report)});
    job.report.take(Event{tick_input.now, TickDue{}}, effects);

    const json& out = t.at("out");
    if (out.contains("raises")) return false;  // ours holds; after it the two cannot be compared
    std::optional<ScalingTarget> expected;
    if (const json o = out.value("scale_to", json()); o.is_object())
        expected = ScalingTarget{replicas(o, "num_prefill"), replicas(o, "num_decode")};
    if (expected == result.scale_to) return true;
    job.differences.push_back({input.path() + ": tick " + std::to_string(index) + " decides otherwise", "",
                               text_of(expected), text_of(result.scale_to)});
    return false;
}

void play(ReplayJob& job, const InputFile& input, const json& file) {
    if (file.at("schema") != "planner-core-scenario/1") throw std::runtime_error("unknown schema");
    plan::Rules rules{config_from(file.at("effective_config"))};
    job.mode = rules.config().mode;
    job.preset = "dynamo";
    prepare(rules, file);
    ScheduledTick next;
    if (const json initial = file.value("initial", json()); initial.is_object())
        next = rules.initial_tick(at_seconds(number(initial.at("start_s"))));
    Names names;
    std::size_t index = 0;
    for (const json& t : file.at("ticks")) {
        if (interrupted() || !run_tick(job, input, index++, t, rules, names, next)) break;
    }
    for (const Role role : all_roles) job.engines[role] += names.known(role);
    job.notes.push_back(input.path() + ": " + std::to_string(index) + " ticks, " +
                        std::to_string(names.passes) + " observations");
}

}  // namespace

void replay_core_scenarios(ReplayJob& job) {
    const auto began = std::chrono::steady_clock::now();
    for (InputFile& input : job.inputs) {
        const auto text = input.read_all(scenario_bytes_max);
        if (!text) {
            job.problem(text.error().message);
            continue;
        }
        // The library throws on a missing or mistyped member: here is where that becomes a line.
        try {
            play(job, input, json::parse(*text));
        } catch (const std::exception& e) {
            job.problem(input.path() + ": " + e.what());
        }
        if (interrupted() || !job.differences.empty()) break;
    }
    job.run_time = std::chrono::steady_clock::now() - began;
    job.stopped = interrupted();
}

}  // namespace dynaplan::app
