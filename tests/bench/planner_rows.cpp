// Planner::step under preset dynaplan: ticks of a large fleet, single reports, resident memory.
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "bench/fleet.hpp"
#include "bench/row.hpp"
#include "core/assert.hpp"

namespace dynaplan::bench {

namespace {

struct FleetRun {
    explicit FleetRun(std::int64_t engines)
        : fleet{engines}, planner{tick_config(Preset::dynaplan)}, draws{99} {
        settle_in(planner, fleet);
    }
    ReportingFleet fleet;
    plan::Planner planner;
    Draws draws;
};

// The next due tick, with one report of every engine before it: only the steps of the tick are timed. A
// throughput tick has two, the one that asks for traffic and the one that brings it.
struct TimedTick {
    bool throughput = false;
    double seconds = 0.0;
};

TimedTick run_tick(FleetRun& run) {
    const TimePoint due = run.planner.next_wake();
    std::vector<Event> events;
    run.fleet.report(due - Seconds{0.5}, events);
    for (const Event& e : events) static_cast<void>(run.planner.step(e));
    TimedTick tick;
    Effects effects;
    const TimePoint at = run.planner.next_wake();
    tick.seconds += seconds_taken([&] { effects = run.planner.step({at, TickDue{}}); });
    bool wanted = false;
    for (const Effect& e : effects) wanted = wanted || std::holds_alternative<TrafficWanted>(e.body);
    if (wanted) {
        tick.throughput = true;
        const Event arrived{at, TrafficObserved{Seconds{60.0}, Reading<Traffic>::known(traffic(run.draws))}};
        tick.seconds += seconds_taken([&] { effects = run.planner.step(arrived); });
    }
    bool ran = false;
    for (const Effect& e : effects) ran = ran || std::holds_alternative<DiagnosticsReport>(e.body);
    DYNAPLAN_ASSERT(ran);
    answer(run.planner, effects, at, run.draws);
    return tick;
}

void add_ticks(std::vector<Row>& rows, std::string name, bool throughput, std::int64_t count,
               std::optional<double> target) {
    rows.push_back(
        {std::move(name), Unit::time, std::nullopt, target, [=](bool quick) -> std::function<Pass()> {
             constexpr std::int64_t engines = 1'000;
             const auto run = std::make_shared<FleetRun>(engines);
             return [=, n = quick ? std::int64_t{1} : count] {
                 double seconds = 0.0;
                 for (std::int64_t done = 0; done < n;) {
                     const TimedTick tick = run_tick(*run);
                     if (tick.throughput != throughput) continue;
                     seconds += tick.seconds;
                     ++done;
                 }
                 return Pass{seconds / static_cast<double>(n), std::nullopt};
             };
         }});
}

void add_reports(std::vector<Row>& rows, std::int64_t engines, std::optional<double> target) {
    rows.push_back({"one FPM through step, " + std::to_string(engines) + " engines known", Unit::time,
                    std::nullopt, target, [=](bool quick) -> std::function<Pass()> {
                        const auto run = std::make_shared<FleetRun>(engines);
                        return [=] {
                            // Between two ticks, so that only reports are measured.
                            const std::int64_t rounds =
                                std::max<std::int64_t>(1, (quick ? 1'000 : 20'000) / engines);
                            const TimePoint due = run->planner.next_wake();
                            answer(run->planner, run->planner.step({due, TickDue{}}), due, run->draws);
                            const Seconds step{1.0 / static_cast<double>(rounds)};
                            const std::vector<Event> events = run->fleet.rounds(rounds, due + step, step);
                            return counted_pass(static_cast<std::int64_t>(events.size()), [&] {
                                for (const Event& e : events) keep(run->planner.step(e));
                            });
                        };
                    }});
}

// Of this process, bytes.
double resident_bytes() {
    long total = 0;
    long resident = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    DYNAPLAN_ASSERT(file != nullptr);
    const int read = std::fscanf(file, "%ld %ld", &total, &resident);
    std::fclose(file);
    DYNAPLAN_ASSERT(read == 2);
    return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

void add_memory(std::vector<Row>& rows) {
    constexpr double target = 200e6;
    rows.push_back({"resident memory, 10000 engines of 64 samples each", Unit::bytes, std::nullopt, target,
                    [](bool quick) -> std::function<Pass()> {
                        return [engines = quick ? 100 : 10'000] {
                            malloc_trim(0);  // what earlier rows have left
                            const auto run = std::make_unique<FleetRun>(engines);
                            malloc_trim(0);
                            return Pass{resident_bytes(), std::nullopt};
                        };
                    },
                    1});
}

}  // namespace

void add_planner_rows(std::vector<Row>& rows) {
    add_ticks(rows, "step of a load tick, 1000 engines", false, 10, 40e-6);
    add_ticks(rows, "step of a combined tick, 1000 engines, its traffic included", true, 2, std::nullopt);
    constexpr double report_target = 0.25e-6;
    for (const std::int64_t engines : {100, 1'000, 10'000}) add_reports(rows, engines, report_target);
    add_memory(rows);
}

}  // namespace dynaplan::bench
