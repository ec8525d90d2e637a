// Taking in one observation under preset dynamo, alone and with the regression kept fitted.
#include "bench/row.hpp"
#include "bench/samples.hpp"
#include "model/engine_model.hpp"

namespace dynaplan::bench {

namespace {

constexpr std::uint64_t seed = 777;
constexpr std::int64_t window = 64;

struct ModelRun {
    std::vector<ForwardPass> fill;
    std::vector<ForwardPass> passes;
};

template <class Observe>
Pass run_model(model::ModelKind kind, const ModelRun& run, const Observe& observe) {
    model::EngineModel m{model_settings(kind, Preset::dynamo)};
    for (const ForwardPass& p : run.fill) m.observe(p, TimePoint{});
    keep(m.fit());
    return counted_pass(static_cast<std::int64_t>(run.passes.size()), [&] {
        for (const ForwardPass& p : run.passes) observe(m, p);
    });
}

void add(std::vector<Row>& rows, const std::string& name, model::ModelKind kind, double add_rate,
         double fit_rate) {
    const auto prepared = [kind](std::int64_t count) {
        Draws u{seed};
        auto fill = passes_of(kind, u, window);
        return ModelRun{std::move(fill), passes_of(kind, u, count)};
    };
    rows.push_back({"add_observation, " + name + ", add only", Unit::rate, 1.0 / add_rate, std::nullopt,
                    [=](bool quick) -> std::function<Pass()> {
                        return [kind, run = prepared(quick ? 2'000 : 20'000)] {
                            return run_model(kind, run, [](model::EngineModel& m, const ForwardPass& p) {
                                m.observe(p, TimePoint{});
                            });
                        };
                    }});
    constexpr double fit_target = 0.2e-6;
    rows.push_back({"add_observation, " + name + ", fit after each", Unit::rate, 1.0 / fit_rate, fit_target,
                    [=](bool) -> std::function<Pass()> {
                        return [kind, run = prepared(2'000)] {
                            return run_model(kind, run, [](model::EngineModel& m, const ForwardPass& p) {
                                m.observe(p, TimePoint{});
                                keep(m.fit());
                            });
                        };
                    }});
}

}  // namespace

void add_model_rows(std::vector<Row>& rows) {
    add(rows, "prefill", model::ModelKind::prefill, 368'054, 4'265);
    add(rows, "decode", model::ModelKind::decode, 362'712, 2'629);
    add(rows, "agg", model::ModelKind::agg, 286'631, 2'810);
}

}  // namespace dynaplan::bench
