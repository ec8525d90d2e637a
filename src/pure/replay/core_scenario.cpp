#include "replay/core_scenario.hpp"

#include <map>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/config_field.hpp"
#include "replay/json_at.hpp"

namespace dynaplan::replay {

namespace {

using nlohmann::json;

std::optional<std::int64_t> whole_at(const At& o, std::string_view name) {
    const auto n = o.find(name);
    return n ? std::optional{n->whole()} : std::nullopt;
}

std::optional<Replicas> replicas_at(const At& o, std::string_view name) {
    const auto n = whole_at(o, name);
    return n ? std::optional{Replicas{*n}} : std::nullopt;
}

// What the reference's validation left is taken as it stands.
PlannerConfig read_config(const At& effective) {
    PlannerConfig config = config_of(Preset::dynamo);
    for (const auto& [name, value] : effective.object().items()) {
        const At at = effective.member(name);
        const Field* field = find_field(name);
        if (field == nullptr) {
            const std::string near = nearest_field(name);
            at.fail("no such field" + (near.empty() ? "" : "; did you mean " + near + "?"));
        }
        const Result<FieldValue> taken = coerce(*field, at.field_value());
        if (!taken) at.fail(taken.error().message);
        field->set(config, *taken);
    }
    return config;
}

Capabilities read_capabilities(const At& o) {
    Capabilities c;
    if (const auto n = whole_at(o, "num_gpu")) c.num_gpu = Gpus{*n};
    c.max_num_batched_tokens = whole_at(o, "max_num_batched_tokens");
    c.max_num_seqs = whole_at(o, "max_num_seqs");
    c.context_length = whole_at(o, "context_length");
    c.max_kv_tokens = whole_at(o, "max_kv_tokens");
    return c;
}

// Null or absent: nothing is known.
PerRole<Capabilities> read_both_capabilities(const At& o, std::string_view name) {
    PerRole<Capabilities> both;
    const auto roles = o.find(name);
    if (!roles) return both;
    if (const auto c = roles->find("prefill")) both.prefill = read_capabilities(*c);
    if (const auto c = roles->find("decode")) both.decode = read_capabilities(*c);
    return both;
}

// What warms the predictors of requests and lengths.
Traffic read_warmup(const At& o) {
    Traffic t;
    t.num_req = o.member("num_req").number();
    t.isl = o.member("isl").number();
    t.osl = o.member("osl").number();
    return t;
}

Traffic read_traffic(const At& o) {
    Traffic t = read_warmup(o);
    t.duration = Seconds{o.member("duration_s").number()};
    if (const auto rate = o.find("kv_hit_rate")) t.kv_hit_rate = rate->number();
    return t;
}

ScheduledTick read_scheduled(const At& o) {
    ScheduledTick t;
    t.at = at_seconds(o.member("at_s").number());
    t.run_load = o.member("run_load_scaling").flag();
    t.run_throughput = o.member("run_throughput_scaling").flag();
    t.need_traffic = o.member("need_traffic_metrics").flag();
    t.traffic_duration = Seconds{o.member("traffic_metrics_duration_s").number()};
    t.need_worker_states = o.member("need_worker_states").flag();
    t.need_fpm = o.member("need_worker_fpm").flag();
    return t;
}

// [worker_id, dp_rank, wall_time, [7 scheduled], [6 queued]]
void require_observation(const At& o) {
    o.require_size(5, "a list of worker_id, dp_rank, wall_time, scheduled and queued");
}

ForwardPass read_pass(const At& o) {
    require_observation(o);
    const At s = o.item(3);
    const At q = o.item(4);
    s.require_size(7, "a list of the 7 scheduled numbers");
    q.require_size(6, "a list of the 6 queued numbers");
    ForwardPass p;
    p.wall_time = o.item(2).number();
    p.scheduled = {s.item(0).whole(), s.item(1).whole(), s.item(2).number(), s.item(3).whole(),
                   s.item(4).whole(), s.item(5).whole(), s.item(6).number()};
    p.queued = {q.item(0).whole(), q.item(1).whole(), q.item(2).number(),
                q.item(3).whole(), q.item(4).whole(), q.item(5).number()};
    return p;
}

// An aggregated deployment's one model has its samples under "agg" and answers for the role decode; samples
// of models that the mode does not have are left out.
PerRole<std::vector<ForwardPass>> read_bootstrap(const At& file, Mode mode) {
    PerRole<std::vector<ForwardPass>> all;
    const auto lists = file.find("bootstrap");
    if (!lists) return all;
    for (const auto& [name, list] : lists->object().items()) {
        const At at = lists->member(name);
        const auto role = role_from(name);
        if (!role) at.fail("no such role; known are prefill, decode and agg");
        const bool of_mode = (name == "agg") == (mode == Mode::agg);
        for (std::size_t i = 0; i < at.list_size(); ++i) {
            const ForwardPass pass = read_pass(at.item(i));
            if (of_mode) all[*role].push_back(pass);
        }
    }
    return all;
}

std::vector<Traffic> read_warmups(const At& file) {
    std::vector<Traffic> all;
    const auto list = file.find("warmup");
    if (!list) return all;
    for (std::size_t i = 0; i < list->list_size(); ++i) all.push_back(read_warmup(list->item(i)));
    return all;
}

// "[json.exception.parse_error.101] parse error at line 3, column 5: syntax error ...; last read: '...'",
// which may quote half of the file.
std::string parse_problem(const json::exception& e) {
    constexpr std::size_t most = 200;
    std::string text = e.what();
    if (const auto bracket = text.find("] "); bracket != std::string::npos) text.erase(0, bracket + 2);
    if (text.size() > most) text.replace(most, std::string::npos, "...");
    for (char& c : text) {
        if (c < 0x20 || c > 0x7e) c = '?';
    }
    return "not JSON: " + text;
}

}  // namespace

struct CoreScenario::Impl {
    json file;
    std::size_t next = 0;  // index of the next tick

    PlannerConfig config;
    PerRole<Capabilities> capabilities;
    PerRole<std::vector<ForwardPass>> bootstrap;
    std::vector<Traffic> warmup;
    std::optional<TimePoint> start;

    std::map<std::string, WorkerIndex> workers;
    PerRole<std::map<std::pair<std::string, std::int64_t>, EngineIndex>> engines;
    std::int64_t observations = 0;

    void read_head() {
        const At root{file};
        const At schema = root.member("schema");
        if (schema.text() != core_scenario_schema) {
            const std::string wanted = '"' + std::string{core_scenario_schema} + '"';
            schema.wrong(wanted.c_str());
        }
        config = read_config(root.member("effective_config"));
        capabilities = read_both_capabilities(root, "capabilities");
        bootstrap = read_bootstrap(root, config.mode);
        warmup = read_warmups(root);
        if (const auto initial = root.find("initial"))
            start = at_seconds(initial->member("start_s").number());
        static_cast<void>(root.member("ticks").list_size());
    }

    std::vector<EngineObservation> read_engines(const At& lists, Role role) {
        std::vector<EngineObservation> out;
        const auto list = lists.find(to_string(role));
        if (!list) return out;
        const std::size_t size = list->list_size();
        out.reserve(size);
        for (std::size_t i = 0; i < size; ++i) {
            const At o = list->item(i);
            require_observation(o);
            EngineObservation& e = out.emplace_back();
            std::string worker_id = o.item(0).text();
            e.dp_rank = o.item(1).whole();
            e.pass = read_pass(o);
            const auto worker = static_cast<WorkerIndex>(workers.size());
            e.worker = workers.try_emplace(worker_id, worker).first->second;
            const auto engine = static_cast<EngineIndex>(engines[role].size());
            e.engine = engines[role].try_emplace({std::move(worker_id), e.dp_rank}, engine).first->second;
            ++observations;
        }
        return out;
    }

    CoreTick read_tick(const At& t) {
        CoreTick tick;
        if (t.has("update_capabilities"))
            tick.update_capabilities = read_both_capabilities(t, "update_capabilities");
        if (const auto o = t.find("tick")) tick.scheduled = read_scheduled(*o);
        const At in = t.member("in");
        tick.now = at_seconds(in.member("now_s").number());
        if (const auto o = in.find("traffic")) tick.traffic = Reading<Traffic>::known(read_traffic(*o));
        if (const auto o = in.find("worker_counts")) {
            WorkerCounts& counts = tick.worker_counts.emplace();
            counts.ready = {replicas_at(*o, "ready_num_prefill"), replicas_at(*o, "ready_num_decode")};
            counts.expected = {replicas_at(*o, "expected_num_prefill"),
                               replicas_at(*o, "expected_num_decode")};
        }
        if (const auto o = in.find("fpm"))
            tick.engines.emplace() = {read_engines(*o, Role::prefill), read_engines(*o, Role::decode)};
        const At out = t.member("out");
        tick.raises = out.has("raises");
        if (const auto o = out.find("scale_to"))
            tick.scale_to = ScalingTarget{replicas_at(*o, "num_prefill"), replicas_at(*o, "num_decode")};
        return tick;
    }
};

TickInput CoreTick::input() const& {
    TickInput in;
    in.now = now;
    in.traffic = traffic;
    in.worker_counts = worker_counts;
    if (engines) in.fpm = FpmSnapshot{engines->prefill, engines->decode};
    return in;
}

CoreScenario::CoreScenario(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
CoreScenario::~CoreScenario() = default;
CoreScenario::CoreScenario(CoreScenario&&) noexcept = default;
CoreScenario& CoreScenario::operator=(CoreScenario&&) noexcept = default;

Result<CoreScenario> CoreScenario::open(std::string_view text) {
    auto impl = std::make_unique<Impl>();
    try {
        impl->file = json::parse(text);
        impl->read_head();
    } catch (const json::exception& e) {
        return failure(parse_problem(e));
    } catch (const Malformed& e) {
        return failure(e.what());
    }
    return CoreScenario{std::move(impl)};
}

const PlannerConfig& CoreScenario::config() const { return impl_->config; }

void CoreScenario::prepare(plan::Rules& rules) const {
    rules.set_capabilities(impl_->capabilities);
    for (const Role role : all_roles) rules.bootstrap(role, impl_->bootstrap[role]);
    if (!impl_->warmup.empty()) rules.warm(impl_->warmup);
}

std::optional<TimePoint> CoreScenario::start() const { return impl_->start; }

Result<bool> CoreScenario::next(CoreTick& out) {
    const At root{impl_->file};
    const At ticks = root.member("ticks");
    if (impl_->next == ticks.list_size()) return false;
    try {
        out = impl_->read_tick(ticks.item(impl_->next));
    } catch (const Malformed& e) {
        return failure(e.what());
    }
    ++impl_->next;
    return true;
}

std::int64_t CoreScenario::engines(Role role) const {
    return static_cast<std::int64_t>(impl_->engines[role].size());
}

std::int64_t CoreScenario::observations() const { return impl_->observations; }

}  // namespace dynaplan::replay
