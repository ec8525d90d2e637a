// The core's two faces agree: ticks that follow the schedule, handed to plan::Rules and fed as events to
// plan::Planner, under preset dynamo. Every throughput tick gets its traffic at once, so that both run at the
// same times.
#include <algorithm>
#include <map>
#include <string>

#include <doctest/doctest.h>

#include "plan/planner.hpp"
#include "reference/differences.hpp"
#include "reference/random_world.hpp"

namespace dynaplan::reference {
namespace {

class BothFaces {
public:
    explicit BothFaces(std::uint64_t seed)
        : dice_{seed + 1'000'000},
          world_{seed},
          config_{config_of_world()},
          rules_{config_},
          planner_{config_} {
        rules_.set_capabilities(world_.capabilities());
        for (const Role role : all_roles) {
            rules_.bootstrap(role, world_.bootstrap()[role]);
            planner_.bootstrap(role, world_.bootstrap()[role]);
        }
    }

    // The first difference, or nothing.
    std::string run(int ticks, std::int64_t& decisions) {
        const TimePoint start = at_seconds(100.0);
        ScheduledTick next = rules_.initial_tick(start);
        static_cast<void>(planner_.step({start, TickDue{}}));
        for (int i = 0; i < ticks; ++i) {
            change_fleet(next.at - Seconds{1.0});
            TickInput in = input_of(next);
            const std::optional<Traffic> traffic = traffic_of(next);
            if (traffic) in.traffic = Reading<Traffic>::known(*traffic);
            const TickResult expected = rules_.on_tick(next, in);
            Effects effects;
            if (traffic && !next.run_throughput)  // of a deployment without throughput scaling: the hit rate
                append(effects, planner_.step({next.at, TrafficObserved{traffic->duration, *in.traffic}}));
            append(effects, planner_.step({next.at, TickDue{}}));
            if (traffic && next.run_throughput)
                append(effects, planner_.step({next.at, TrafficObserved{traffic->duration, *in.traffic}}));
            const std::string differ = compare(effects, expected);
            if (!differ.empty()) return "tick " + std::to_string(i) + "\n" + differ;
            if (expected.scale_to) ++decisions;
            next = expected.next_tick;
        }
        return {};
    }

private:
    struct Worker {
        std::string id;
        EngineObservation latest;
    };

    // On a grid that both compute alike, and with a minimum: a fleet at zero asks for traffic of its own
    // accord.
    PlannerConfig config_of_world() {
        PlannerConfig c = world_.config();
        c.load_adjustment_interval = Seconds{5.0};
        c.throughput_adjustment_interval = Seconds{dice_.one_of({30.0, 60.0})};
        c.min_endpoint = std::max<std::int64_t>(1, c.min_endpoint);
        c.capabilities = world_.capabilities();
        return c;
    }

    static void append(Effects& all, const Effects& more) { all.insert(all.end(), more.begin(), more.end()); }

    void change_fleet(TimePoint at) {
        for (const Role role : all_roles) {
            if (!has_role(config_.mode, role)) continue;
            world_.drift(role);
            std::vector<Worker>& fleet = fleet_[role];
            if (fleet.size() > 1 && dice_.chance(0.1)) {
                const auto gone = fleet.begin() + dice_.among(static_cast<std::int64_t>(fleet.size()));
                static_cast<void>(planner_.step({at, EngineLeft{role, {gone->id, 0}}}));
                fleet.erase(gone);
            }
            if (fleet.empty() || (fleet.size() < 6 && dice_.chance(0.1))) {
                Worker& w = fleet.emplace_back();
                w.id = std::to_string(workers_);
                w.latest.engine = static_cast<EngineIndex>(workers_);
                w.latest.worker = static_cast<WorkerIndex>(workers_++);
                report(role, w, at);
            }
            for (Worker& w : fleet) {
                if (dice_.chance(0.8)) report(role, w, at);
            }
        }
    }

    void report(Role role, Worker& w, TimePoint at) {
        w.latest.pass = world_.pass(role);
        w.latest.pass.counter_id = ++counter_;
        FpmArrived arrived{role, {}};
        arrived.fpm.worker_id = w.id;
        arrived.fpm.pass = w.latest.pass;
        static_cast<void>(planner_.step({at, arrived}));
    }

    TickInput input_of(const ScheduledTick& tick) {
        TickInput in;
        in.now = tick.at;
        WorkerCounts& counts = in.worker_counts.emplace();
        for (const Role role : all_roles) {
            snapshot_[role].clear();
            if (!has_role(config_.mode, role)) continue;
            for (const Worker& w : fleet_[role]) snapshot_[role].push_back(w.latest);
            const auto n = static_cast<std::int64_t>(fleet_[role].size());
            const Replicas ready{dice_.chance(0.05) ? n + 1 : n};
            const Replicas expected{dice_.chance(0.05) ? ready.count() + 1 : ready.count()};
            counts.ready[role] = ready;
            counts.expected[role] = expected;
            static_cast<void>(
                planner_.step({tick.at - Seconds{1.0}, InventoryRead{role, ready, expected, false}}));
        }
        if (tick.run_load) in.fpm = FpmSnapshot{snapshot_.prefill, snapshot_.decode};
        return in;
    }

    std::optional<Traffic> traffic_of(const ScheduledTick& tick) {
        if (!tick.need_traffic) return std::nullopt;
        Traffic t;
        t.duration = tick.traffic_duration;
        t.kv_hit_rate = dice_.chance(0.5) ? std::optional{dice_.share()} : std::nullopt;
        if (tick.run_throughput) {
            t.num_req = dice_.between(0.0, 2'000.0);
            t.isl = dice_.between(100.0, 6'000.0);
            t.osl = dice_.between(10.0, 500.0);
        }
        return t;
    }

    static std::string compare(const Effects& effects, const TickResult& expected) {
        std::optional<ScalingTarget> target;
        const Diagnostics* diagnostics = nullptr;
        for (const Effect& e : effects) {
            if (const auto* scale = std::get_if<ScaleTo>(&e.body))
                target = ScalingTarget{scale->prefill, scale->decode};
            if (const auto* report = std::get_if<DiagnosticsReport>(&e.body))
                diagnostics = &report->diagnostics;
        }
        if (diagnostics == nullptr) return "the planner ran no tick";
        return differences(target, expected.scale_to) + differences(*diagnostics, expected.diagnostics);
    }

    Dice dice_;
    RandomWorld world_;
    PlannerConfig config_;
    plan::Rules rules_;
    plan::Planner planner_;
    PerRole<std::vector<Worker>> fleet_;
    PerRole<std::vector<EngineObservation>> snapshot_;
    std::uint32_t workers_ = 0;
    std::int64_t counter_ = 0;
};

TEST_CASE(
    "faces: events that follow the schedule get from the planner what the rules say, under preset dynamo") {
    constexpr std::uint64_t scenarios = 150;
    constexpr int ticks = 60;
    std::int64_t decisions = 0;
    for (std::uint64_t seed = 1; seed <= scenarios; ++seed) {
        const std::string first = BothFaces{seed}.run(ticks, decisions);
        INFO("seed " << seed << ", " << first);
        REQUIRE(first.empty());
    }
    CHECK(decisions > 500);
}

}  // namespace
}  // namespace dynaplan::reference
