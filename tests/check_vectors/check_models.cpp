// Unit-level goldens: regressions with queries, predictors, budgets and small functions.
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

#include "check_vectors/check_predictor.hpp"
#include "check_vectors/kinds.hpp"
#include "check_vectors/model_json.hpp"
#include "check_vectors/observation.hpp"
#include "core/config.hpp"
#include "model/average.hpp"
#include "model/capacity.hpp"
#include "model/engine_model.hpp"
#include "model/estimate.hpp"
#include "model/welford.hpp"
#include "plan/budget.hpp"
#include "plan/roster.hpp"

namespace dynaplan::check_vectors {

namespace {

using nlohmann::json;

constexpr Tolerance tolerance = float_1e9;

model::ModelSettings settings_of(const json& c) {
    const Policy policy = dynamo_policy();
    model::ModelSettings s;
    const auto kind = c.at("model").get<std::string>();
    if (kind == "prefill") {
        s.kind = model::ModelKind::prefill;
    } else if (kind == "decode") {
        s.kind = model::ModelKind::decode;
    } else if (kind == "agg") {
        s.kind = model::ModelKind::agg;
    } else {
        throw std::runtime_error("unknown model " + kind);
    }
    s.window = c.at("max_num_fpm_samples").get<std::int64_t>();
    s.buckets = c.at("bucket_count").get<std::int64_t>();
    s.min_observations = c.at("min_observations").get<std::int64_t>();
    s.retirement = policy.retirement;
    s.axis_bounds = policy.axis_bounds;
    s.regression_fit = policy.regression_fit;
    s.estimate_floor = policy.estimate_floor;
    s.averages = policy.averages;
    return s;
}

std::optional<std::int64_t> optional_count(const json& args, const char* name) {
    if (!args.contains(name) || args[name].is_null()) return std::nullopt;
    return args[name].get<std::int64_t>();
}

std::optional<double> optional_arg(const json& args, const char* name) {
    return args.contains(name) ? optional_number(args[name]) : std::nullopt;
}

double arg(const json& args, const char* name) { return number(args.at(name)); }

json json_or_null(std::optional<double> value) { return value ? json_of(*value) : json(nullptr); }

json capacity_json(const model::Capacity& c, std::initializer_list<double> latencies) {
    json out = json::array({json_of(c.rps)});
    for (const double ms : latencies) out.push_back(json_of(ms));
    return out;
}

// The answer of one query; nothing for a function that is not known.
std::optional<json> answer(const std::string& fn, const json& a, const model::EngineModel& m) {
    const model::Fit& fit = m.fit();
    const TimePoint now{};
    if (fn == "predict_wall_time") return json_of(fit(arg(a, "prefill_tokens")));
    if (fn == "predict_2d") {
        const bool agg = m.kind() == model::ModelKind::agg;
        return json_of(fit(arg(a, agg ? "prefill_tokens" : "num_requests"),
                           arg(a, agg ? "decode_kv_tokens" : "kv_tokens")));
    }
    if (fn == "estimate_next_ttft") {
        model::TtftQuery q;
        q.queued_prefill_tokens = arg(a, "queued_prefill_tokens");
        q.avg_isl = m.avg_isl(now);
        q.kv_hit_rate = model::clamp_kv_hit_rate(optional_arg(a, "kv_hit_rate"));
        q.max_num_batched_tokens = optional_count(a, "max_num_batched_tokens").value_or(0);
        q.decode_kv = optional_arg(a, "current_decode_kv").value_or(0.0);
        return json_or_null(model::estimate_ttft(fit, q));
    }
    if (fn == "estimate_next_itl") {
        const double kv = arg(a, "scheduled_decode_kv") + arg(a, "queued_decode_kv");
        return json_or_null(
            m.kind() == model::ModelKind::agg
                ? model::estimate_itl_agg(fit, m.avg_prefill_tokens(now), kv, m.avg_decode_len(now))
                : model::estimate_itl_decode(fit, m.avg_num_decode(now), kv, m.avg_decode_len(now)));
    }
    const double hit_rate = model::clamp_kv_hit_rate(optional_arg(a, "kv_hit_rate"));
    if (fn == "find_best_engine_prefill_rps") {
        const model::Capacity c = model::prefill_capacity(
            fit, {arg(a, "isl"), hit_rate, optional_count(a, "max_num_batched_tokens"),
                  Millis{arg(a, "ttft_sla")}});
        return capacity_json(c, {c.ttft_ms});
    }
    if (fn == "find_best_engine_decode_rps") {
        const model::Capacity c = model::decode_capacity(
            fit, {arg(a, "context_length"), arg(a, "osl"), optional_count(a, "max_kv_tokens"),
                  optional_count(a, "max_num_seqs"), m.max_observed_kv(), Millis{arg(a, "itl")}});
        return capacity_json(c, {c.itl_ms});
    }
    if (fn == "find_best_engine_agg_rps") {
        const model::AggLoad load{arg(a, "isl"),
                                  arg(a, "osl"),
                                  hit_rate,
                                  m.avg_isl(now),
                                  optional_count(a, "max_num_batched_tokens"),
                                  optional_count(a, "max_kv_tokens"),
                                  optional_count(a, "max_num_seqs"),
                                  Millis{arg(a, "ttft_sla")},
                                  Millis{arg(a, "itl_sla")}};
        const model::Capacity c = model::agg_capacity(fit, load);
        const model::Capacity swept = model::agg_capacity_swept(fit, load);
        if (swept.rps != c.rps || swept.ttft_ms != c.ttft_ms || swept.itl_ms != c.itl_ms) {
            throw std::runtime_error("bisection and sweep disagree");
        }
        return capacity_json(c, {c.ttft_ms, c.itl_ms});
    }
    return std::nullopt;
}

void check_queries(const json& c, const model::EngineModel& m, Report& report) {
    std::int64_t index = 0;
    for (const json& q : c.value("queries", json::array())) {
        report.at_step("query " + std::to_string(index++));
        const auto fn = q.at("fn").get<std::string>();
        const json& out = q.at("out");
        const bool raises = out.is_object() && out.contains("raises");
        if (raises) {
            if (fn.starts_with("predict_") && !m.fit().accepted()) continue;  // outside the contract
            if (m.fit().state != model::FitState::not_finite) report.differ(fn, out, "a value");
            continue;
        }
        const std::optional<json> got = answer(fn, q.at("args"), m);
        if (!got) {
            report.fail(fn, "unknown function");
        } else {
            report.compare(fn, out, *got, tolerance);
        }
    }
}

void check_regression(const json& c, Report& report) {
    report.only_members("case", c,
                        {"name", "model", "note", "max_num_fpm_samples", "min_observations", "bucket_count",
                         "observations", "expect", "queries", "checkpoints", "upstream_quirk"});
    model::EngineModel m{settings_of(c)};
    std::map<std::int64_t, const json*> checkpoints;
    for (const json& point : c.value("checkpoints", json::array())) {
        checkpoints[point.at("after").get<std::int64_t>()] = &c;
    }
    const json points = c.value("checkpoints", json::array());
    std::int64_t seen = 0;
    std::size_t next = 0;
    for (const json& o : c.at("observations")) {
        m.observe(observation(o).pass, TimePoint{});
        ++seen;
        while (next < points.size() && points[next].at("after").get<std::int64_t>() == seen) {
            report.at_step("after " + std::to_string(seen));
            json expected = points[next++];
            expected.erase("after");
            if (!expected.value("fitted", false)) {
                expected.erase("coef");
                expected.erase("intercept");
            }
            compare_model(report, "checkpoint", expected, m);
        }
    }
    if (next != points.size()) report.fail("checkpoints", "a checkpoint lies behind the last observation");
    report.at_step("end");
    compare_model(report, "expect", c.at("expect"), m);
    check_queries(c, m, report);
}

void check_moving_average(const json& c, Report& report) {
    report.only_members("case", c, {"name", "note", "window", "steps_value_average_len"});
    model::CountedAverage average{c.at("window").get<std::int64_t>()};
    std::int64_t index = 0;
    for (const json& step : c.at("steps_value_average_len")) {
        report.at_step(index++);
        average.add(number(step.at(0)));
        // The reference's running sum drifts; ours does not, so a mean of zeros is 0 here and a rounding
        // error there.
        report.compare("average", step.at(1), json_of(average.value()), Tolerance{1e-9, 1e-9});
        report.compare("length", step.at(2), average.length());
    }
}

void check_clamp(const json& c, Report& report) {
    report.only_members("case", c, {"name", "note", "in", "out"});
    report.compare("out", c.at("out"), json_of(model::clamp_kv_hit_rate(optional_number(c.at("in")))),
                   tolerance);
}

void check_welford(const json& c, Report& report) {
    report.only_members("case", c, {"name", "note", "values", "n", "sum", "variance"});
    model::Welford w;
    for (const json& v : c.at("values")) w.add(v.get<std::int64_t>());
    report.compare("n", c.at("n"), w.count());
    report.compare("sum", c.at("sum"), w.sum());
    report.compare("variance", c.at("variance"), json_of(w.variance()), tolerance);
}

void check_reconcile(const json& c, Report& report) {
    report.only_members("case", c, {"name", "note", "keys", "count", "ok"});
    std::map<std::string, WorkerIndex> workers;
    std::vector<EngineObservation> engines;
    for (const json& key : c.at("keys")) {
        EngineObservation& e = engines.emplace_back();
        const auto next = static_cast<WorkerIndex>(workers.size());
        e.worker = workers.try_emplace(key.at(0).get<std::string>(), next).first->second;
        e.dp_rank = key.at(1).get<std::int64_t>();
    }
    plan::RosterRule rule{dynamo_policy()};
    plan::Roster roster;
    rule.take(engines, Replicas{c.at("count").get<std::int64_t>()}, TimePoint{}, roster);
    report.compare("ok", c.at("ok"), !roster.mismatch);
}

void check_budget_row(const json& columns, const json& row, Report& report) {
    static const json known = {
        "max_gpu_budget", "min_endpoint", "prefill_gpu",           "decode_gpu",          "num_p",
        "num_d",          "global[p,d]",  "single_prefill(num_p)", "single_decode(num_d)"};
    if (columns != known) return report.fail("columns", "not the columns that this program knows");
    const auto gpus = [](const json& v) {
        return v.is_null() ? std::nullopt : std::optional{Gpus{v.get<std::int64_t>()}};
    };
    plan::Budget budget;
    budget.limit = Gpus{row.at(0).get<std::int64_t>()};
    const Replicas minimum{row.at(1).get<std::int64_t>()};
    budget.minimum = {minimum, minimum};
    budget.each = {gpus(row.at(2)), gpus(row.at(3))};
    const Replicas p{row.at(4).get<std::int64_t>()};
    const Replicas d{row.at(5).get<std::int64_t>()};
    const PerRole<Replicas> pair = plan::budget_pair_reference(budget, {p, d});
    report.compare("global", row.at(6), json::array({pair.prefill.count(), pair.decode.count()}));
    report.compare("single_prefill", row.at(7),
                   plan::budget_single_reference(budget, Role::prefill, p).count());
    report.compare("single_decode", row.at(8),
                   plan::budget_single_reference(budget, Role::decode, d).count());
}

void each_case(const json& file, Report& report, const std::function<void(const json&)>& check) {
    std::int64_t index = 0;
    for (const json& c : file.at("cases")) {
        const std::string name =
            c.is_object() ? c.value("name", "case " + std::to_string(index)) : "row " + std::to_string(index);
        report.run_case(name, [&] { check(c); });
        ++index;
    }
}

}  // namespace

void check_models(const json& file, Report& report) {
    const std::string schema = file.value("schema", "");
    const auto with = [&](auto check) { each_case(file, report, [&](const json& c) { check(c, report); }); };
    if (schema == "planner-models/1") return with(check_regression);
    if (schema == "planner-predictor/1") {
        if (!check_predictor(file, report)) report.fail_file("no predictor cases");
        return;
    }
    if (schema == "planner-moving-average/1") return with(check_moving_average);
    if (schema == "planner-clamp/1") return with(check_clamp);
    if (schema == "planner-welford/1") return with(check_welford);
    if (schema == "planner-reconcile/1") return with(check_reconcile);
    if (schema == "planner-budget/1") {
        return with([&](const json& row, Report& r) { check_budget_row(file.at("columns"), row, r); });
    }
    if (schema == "planner-fpm-wire/1") return check_fpm_wire(file, report);
    report.fail_file("unknown schema '" + schema + "'");
}

}  // namespace dynaplan::check_vectors
