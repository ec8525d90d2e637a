// The two faces of the core agree: golden decision traces whose ticks follow the schedule, fed as events
// through Planner::step under `preset: dynamo`, give the decisions and diagnostics that the tick face is
// tested against.
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "check_vectors/observation.hpp"
#include "core/config_field.hpp"
#include "plan/planner.hpp"
#include "wire/json_effect.hpp"

using namespace dynaplan;
using check_vectors::number;
using nlohmann::json;

namespace {

FieldValue field_value(const json& v) {
    if (v.is_null()) return std::monostate{};
    if (v.is_boolean()) return v.get<bool>();
    if (v.is_number_integer()) return v.get<std::int64_t>();
    if (v.is_number()) return v.get<double>();
    return v.get<std::string>();
}

std::optional<std::int64_t> count(const json& object, const char* name) {
    if (!object.is_object() || !object.contains(name) || object[name].is_null()) return std::nullopt;
    return object[name].get<std::int64_t>();
}

Capabilities capabilities_of(const json& o) {
    Capabilities c;
    c.max_num_batched_tokens = count(o, "max_num_batched_tokens");
    c.max_num_seqs = count(o, "max_num_seqs");
    c.context_length = count(o, "context_length");
    c.max_kv_tokens = count(o, "max_kv_tokens");
    return c;
}

PlannerConfig config_of_file(const json& file) {
    PlannerConfig config = config_of(Preset::dynamo);
    std::vector<NamedValue> fields;
    for (const auto& [name, value] : file.at("effective_config").items())
        fields.emplace_back(name, field_value(value));
    const json& caps = file.at("capabilities");
    for (const char* role : {"prefill", "decode"}) {
        if (const auto n = count(caps.value(role, json()), "num_gpu"))
            fields.emplace_back(std::string{role} + "_engine_num_gpu", *n);
    }
    const std::vector<std::string> problems = set_fields(config, fields, false);
    REQUIRE_MESSAGE(problems.empty(), problems.front());
    config.capabilities = {capabilities_of(caps.value("prefill", json())),
                           capabilities_of(caps.value("decode", json()))};
    return config;
}

// Turns the lists of a tick into what must have happened before it: reports of those that are there,
// departures of those that are not any more.
class Fleet {
    using Key = std::pair<std::string, std::int64_t>;  // worker and rank

public:
    explicit Fleet(plan::Planner& planner) : planner_{planner} {}

    void report(TimePoint at, Role role, const json& list, Effects& out) {
        std::set<Key> now;
        for (const json& o : list) {
            FpmArrived arrived{role, check_vectors::observation(o)};
            arrived.fpm.pass.counter_id = ++counter_;
            now.insert({arrived.fpm.worker_id, arrived.fpm.dp_rank});
            fresh_.push_back(Event{at, std::move(arrived)});
        }
        for (const Key& key : known_[role]) {
            if (!now.contains(key)) step({at, EngineLeft{role, {key.first, key.second}}}, out);
        }
        for (const Event& e : fresh_) step(e, out);
        fresh_.clear();
        known_[role] = std::move(now);
    }

    void step(const Event& event, Effects& out) {
        for (Effect& e : planner_.step(event)) out.push_back(std::move(e));
    }

private:
    plan::Planner& planner_;
    PerRole<std::set<Key>> known_;
    std::vector<Event> fresh_;
    std::int64_t counter_ = 0;
};

std::optional<Replicas> replicas(const json& object, const char* name) {
    const auto n = count(object, name);
    return n ? std::optional{Replicas{*n}} : std::nullopt;
}

void feed_tick(const json& in, const PlannerConfig& config, Fleet& fleet, Effects& out) {
    const TimePoint now = at_seconds(number(in.at("now_s")));
    const json counts = in.value("worker_counts", json());
    for (const Role role : all_roles) {
        if (!has_role(config.mode, role)) continue;
        const bool prefill = role == Role::prefill;
        fleet.step(
            {now, InventoryRead{role, replicas(counts, prefill ? "ready_num_prefill" : "ready_num_decode"),
                                replicas(counts, prefill ? "expected_num_prefill" : "expected_num_decode"),
                                false}},
            out);
        const json fpm = in.value("fpm", json());
        const char* name = prefill ? "prefill" : "decode";
        fleet.report(
            now, role,
            fpm.is_object() && fpm.contains(name) && fpm[name].is_array() ? fpm[name] : json::array(), out);
    }
    if (const json t = in.value("traffic", json()); t.is_object()) {
        Traffic traffic;
        traffic.duration = Seconds{number(t.at("duration_s"))};
        traffic.num_req = number(t.at("num_req"));
        traffic.isl = number(t.at("isl"));
        traffic.osl = number(t.at("osl"));
        if (t.contains("kv_hit_rate")) traffic.kv_hit_rate = check_vectors::optional_number(t["kv_hit_rate"]);
        fleet.step({now, TrafficObserved{traffic.duration, Reading<Traffic>::known(traffic)}}, out);
    }
    fleet.step({now, TickDue{}}, out);
}

bool close(double a, double b) {
    constexpr double tolerance = 1e-9;
    return (std::isnan(a) && std::isnan(b)) ||
           std::abs(a - b) <= tolerance * std::max({std::abs(a), std::abs(b), 1e-300});
}

void check_value(const std::string& name, const json& expected, const json& got) {
    if (expected.is_number() && got.is_number()) {
        CHECK_MESSAGE(close(expected, got), name, ": expected ", expected.dump(), ", got ", got.dump());
    } else {
        CHECK_MESSAGE(expected == got, name, ": expected ", expected.dump(), ", got ", got.dump());
    }
}

void check_tick(const json& expected, const Effects& effects) {
    json diagnostics;
    json scale_to;
    for (const Effect& effect : effects) {
        std::string text;
        wire::append_effect_json(text, effect);
        const json one = json::parse(text);
        if (one["effect"] == "diagnostics") diagnostics = one;
        if (one["effect"] == "scale_to")
            scale_to = {{"num_prefill", one["prefill"]}, {"num_decode", one["decode"]}};
    }
    check_value("scale_to", expected.at("scale_to"), scale_to);
    REQUIRE(diagnostics.is_object());
    for (const auto& [name, value] : expected.at("diagnostics").items()) {
        json want = value;
        if (want.is_string() && want != diagnostics[name]) {  // a number that JSON has no word for
            try {
                want = number(value);
            } catch (const std::exception&) {  // a reason's name
            }
        }
        if (want.is_number() && !std::isfinite(want.get<double>())) want = nullptr;
        check_value(name, want, diagnostics[name]);
    }
}

void check_file(const std::string& name) {
    std::ifstream in{std::string{DYNAPLAN_VECTORS_DIR} + "/core/" + name + ".json"};
    REQUIRE(in);
    const json file = json::parse(in);
    const PlannerConfig config = config_of_file(file);
    plan::Planner planner{config};
    const json bootstrap = file.value("bootstrap", json());
    if (bootstrap.is_object()) {
        for (const auto& [role, list] : bootstrap.items()) {
            std::vector<ForwardPass> passes;
            for (const json& o : list) passes.push_back(check_vectors::observation(o).pass);
            if ((role == "agg") == (config.mode == Mode::agg)) planner.bootstrap(*role_from(role), passes);
        }
    }
    std::vector<Traffic> warmup;
    for (const json& o : file.value("warmup", json::array())) {
        Traffic& t = warmup.emplace_back();
        t.num_req = number(o.at("num_req"));
        t.isl = number(o.at("isl"));
        t.osl = number(o.at("osl"));
    }
    planner.warm(warmup);

    Fleet fleet{planner};
    Effects effects;
    fleet.step({at_seconds(number(file.at("initial").at("start_s"))), TickDue{}}, effects);
    std::size_t index = 0;
    for (const json& tick : file.at("ticks")) {
        const std::string where = name + ", tick " + std::to_string(index++);
        INFO(where);
        effects.clear();
        feed_tick(tick.at("in"), config, fleet, effects);
        check_tick(tick.at("out"), effects);
    }
    CHECK(index > 0);
}

}  // namespace

TEST_SUITE("scenario") {
    TEST_CASE(
        "faces: traces on the schedule, fed as events under preset dynamo, decide as the tick face does") {
        for (const char* name :
             {"long_disagg_spike_budget", "long_disagg_window_256", "long_disagg_sine_const_cold",
              "long_disagg_throughput_only", "long_agg_diurnal_both", "long_agg_load_only_cold",
              "long_decode_diurnal_both", "long_prefill_ramp_both", "long_prefill_onoff_const",
              "kv_hit_load_only_disagg", "easy_latency_disagg", "easy_throughput_agg"}) {
            SUBCASE(name) { check_file(name); }
        }
    }
}
