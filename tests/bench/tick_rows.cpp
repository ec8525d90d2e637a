// on_tick under preset dynamo: the reference's own contract, with the reference's own work.
#include <memory>

#include "bench/row.hpp"
#include "bench/samples.hpp"
#include "plan/rules.hpp"

namespace dynaplan::bench {

namespace {

enum class Kind : std::uint8_t { load, both, throughput };

struct TickWork {
    ScheduledTick tick;
    TickInput input;
    std::vector<EngineObservation> prefill;
    std::vector<EngineObservation> decode;
};

struct TickRun {
    std::vector<ForwardPass> bootstrap_prefill;
    std::vector<ForwardPass> bootstrap_decode;
    std::vector<std::unique_ptr<TickWork>> ticks;  // spans point into them
};

std::vector<EngineObservation> observations(model::ModelKind kind, Draws& u, std::int64_t engines,
                                            TimePoint now) {
    std::vector<EngineObservation> list(static_cast<std::size_t>(engines));
    for (std::uint32_t i = 0; i < list.size(); ++i) {
        list[i].engine = static_cast<EngineIndex>(i);
        list[i].worker = static_cast<WorkerIndex>(i);
        list[i].pass = pass_of(kind, u);
        list[i].heard_at = list[i].advanced_at = now;
    }
    return list;
}

std::shared_ptr<TickRun> tick_run(Kind kind, std::int64_t engines, std::int64_t count) {
    Draws u{12345};
    auto run = std::make_shared<TickRun>();
    run->bootstrap_prefill = passes_of(model::ModelKind::prefill, u, 64);
    run->bootstrap_decode = passes_of(model::ModelKind::decode, u, 64);
    const std::int64_t per_role = engines / 2;
    for (std::int64_t i = 1; i <= count; ++i) {
        TickWork& work = *run->ticks.emplace_back(std::make_unique<TickWork>());
        const TimePoint now = at_seconds((kind == Kind::load ? 5.0 : 60.0) * static_cast<double>(i));
        work.tick.at = work.input.now = now;
        work.tick.run_load = work.tick.need_fpm = kind != Kind::throughput;
        work.tick.run_throughput = work.tick.need_traffic = kind != Kind::load;
        if (kind != Kind::load) work.tick.traffic_duration = Seconds{60.0};
        work.prefill = observations(model::ModelKind::prefill, u, per_role, now);
        work.decode = observations(model::ModelKind::decode, u, per_role, now);
        if (kind != Kind::throughput) work.input.fpm = FpmSnapshot{work.prefill, work.decode};
        if (kind != Kind::load) work.input.traffic = Reading<Traffic>::known(traffic(u));
        WorkerCounts& counts = work.input.worker_counts.emplace();
        counts.ready = counts.expected = {Replicas{per_role}, Replicas{per_role}};
    }
    return run;
}

Pass run_ticks(const TickRun& run) {
    constexpr std::size_t dropped = 2;
    plan::Rules rules{tick_config(Preset::dynamo)};
    rules.set_capabilities({tick_capabilities(), tick_capabilities()});
    rules.bootstrap(Role::prefill, run.bootstrap_prefill);
    rules.bootstrap(Role::decode, run.bootstrap_decode);
    rules.initial_tick(at_seconds(0.0));
    for (std::size_t i = 0; i < dropped; ++i) keep(rules.on_tick(run.ticks[i]->tick, run.ticks[i]->input));
    return counted_pass(static_cast<std::int64_t>(run.ticks.size() - dropped), [&] {
        for (std::size_t i = dropped; i < run.ticks.size(); ++i)
            keep(rules.on_tick(run.ticks[i]->tick, run.ticks[i]->input));
    });
}

void add(std::vector<Row>& rows, std::string name, Kind kind, std::int64_t engines, std::int64_t count,
         double reference, std::optional<double> target = std::nullopt) {
    rows.push_back({std::move(name), Unit::time, reference, target, [=](bool) -> std::function<Pass()> {
                        const auto run = tick_run(kind, engines, count);
                        return [run] { return run_ticks(*run); };
                    }});
}

}  // namespace

void add_tick_rows(std::vector<Row>& rows) {
    constexpr double target = 60e-6;
    add(rows, "on_tick, 10 engines, load tick", Kind::load, 10, 200, 1.14e-3);
    add(rows, "on_tick, 10 engines, combined tick", Kind::both, 10, 200, 1.48e-3);
    add(rows, "on_tick, 100 engines, load tick", Kind::load, 100, 60, 4.28e-3);
    add(rows, "on_tick, 100 engines, combined tick", Kind::both, 100, 60, 4.33e-3);
    add(rows, "on_tick, 1000 engines, load tick", Kind::load, 1000, 14, 33.23e-3, target);
    add(rows, "on_tick, 1000 engines, combined tick", Kind::both, 1000, 14, 31.34e-3, target);
    add(rows, "on_tick, 10 engines, throughput tick only", Kind::throughput, 10, 200, 0.298e-3);
}

}  // namespace dynaplan::bench
