// Capacity searches and the Kalman predictor under preset dynamo.
#include <memory>

#include "bench/row.hpp"
#include "bench/samples.hpp"
#include "core/assert.hpp"
#include "forecast/predictor.hpp"
#include "model/capacity.hpp"
#include "model/engine_model.hpp"

namespace dynaplan::bench {

namespace {

constexpr std::uint64_t search_seed = 5;
constexpr std::int64_t window = 64;

std::shared_ptr<model::EngineModel> filled_model(model::ModelKind kind) {
    Draws u{search_seed};
    auto m = std::make_shared<model::EngineModel>(model_settings(kind, Preset::dynamo));
    for (const ForwardPass& p : passes_of(kind, u, window)) m->observe(p, TimePoint{});
    DYNAPLAN_ASSERT(m->fit().accepted());
    return m;
}

model::AggLoad agg_load(const model::EngineModel& m) {
    model::AggLoad load;
    load.isl = 2000.0;
    load.osl = 200.0;
    load.kv_hit_rate = 0.2;
    load.avg_isl = m.avg_isl(TimePoint{});
    load.max_num_batched_tokens = 8192;
    load.max_kv_tokens = 1'200'000;
    load.max_num_seqs = 512;
    load.ttft_target = load.itl_target = Millis{1e6};
    return load;
}

using Search = model::Capacity (*)(const model::Fit&, const model::AggLoad&);

void add_agg(std::vector<Row>& rows, std::string name, Search search, std::optional<double> reference,
             std::optional<double> target) {
    rows.push_back({std::move(name), Unit::time, reference, target, [=](bool quick) -> std::function<Pass()> {
                        const auto m = filled_model(model::ModelKind::agg);
                        const model::AggLoad load = agg_load(*m);
                        // Both searches and the reference must answer the same, or the row means nothing.
                        DYNAPLAN_ASSERT(model::agg_capacity_swept(m->fit(), load).rps ==
                                        model::agg_capacity(m->fit(), load).rps);
                        const std::int64_t n = quick ? 10 : 2'000;
                        return [=] {
                            return counted_pass(n, [&] {
                                for (std::int64_t i = 0; i < n; ++i) keep(search(m->fit(), load));
                            });
                        };
                    }});
}

}  // namespace

void add_search_rows(std::vector<Row>& rows) {
    add_agg(rows, "agg capacity search, 512 batch sizes swept", model::agg_capacity_swept, 21.26e-3, 10e-6);
    add_agg(rows, "agg capacity search, bisected (what the planner uses)", model::agg_capacity, 21.26e-3,
            std::nullopt);
    rows.push_back({"decode capacity search", Unit::time, 0.199e-3, std::nullopt,
                    [](bool quick) -> std::function<Pass()> {
                        const auto m = filled_model(model::ModelKind::decode);
                        const model::DecodeLoad load{2100.0,      200.0, 1'200'000, 512, m->max_observed_kv(),
                                                     Millis{12.0}};
                        const std::int64_t n = quick ? 1'000 : 100'000;
                        return [=] {
                            return counted_pass(n, [&] {
                                for (std::int64_t i = 0; i < n; ++i)
                                    keep(model::decode_capacity(m->fit(), load));
                            });
                        };
                    }});
    rows.push_back(
        {"kalman add + forecast", Unit::rate, 1.0 / 51'944, std::nullopt, [](bool) -> std::function<Pass()> {
             constexpr std::int64_t n = 20'000;
             Draws u{3};
             std::vector<double> values;
             for (std::int64_t i = 0; i < n; ++i) values.push_back(100.0 + 50.0 * u.next());
             return [values] {
                 const auto predictor = forecast::make_predictor(tick_config(Preset::dynamo));
                 return counted_pass(n, [&] {
                     for (const double value : values) {
                         predictor->add(value);
                         keep(predictor->predict());
                     }
                 });
             };
         }});
}

}  // namespace dynaplan::bench
