// One run of the real planner under the default preset against a simulated fleet, and what it came to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "closed_loop.hpp"
#include "core/config.hpp"
#include "plan/planner.hpp"

namespace dynaplan::sim {

struct Setup {
    FleetConfig fleet;
    PlannerConfig planner = config_of(Preset::dynaplan);
    Seconds length{2400.0};
};

// The fleet's engines are config.hpp's (an 8B model, one GPU each); 3,000 tokens in, 300 out. In open loop
// this traffic needs, for 90 % of requests within 500 ms and 50 ms: at 6 requests/s 1P1D, at 12 2P2D, at 20
// 3P3D, at 30 4P4D; aggregated 2, 3, 5 and 7.
inline Setup setup_of(Mode mode) {
    Setup s;
    s.fleet.mode = mode;
    s.fleet.traffic.isl = {3000.0, 0.3, 30'000};
    s.fleet.traffic.osl = {300.0, 0.3, 4'000};
    s.planner.mode = mode;
    s.planner.max_gpu_budget = 16;
    s.planner.prefill_engine_num_gpu = 1;
    s.planner.decode_engine_num_gpu = 1;
    s.fleet.ttft = s.planner.ttft;
    s.fleet.itl = s.planner.itl;
    for (const Role role : all_roles) {
        s.fleet.role[role].replicas = 2;
        s.fleet.role[role].startup.typical = Seconds{60.0};
        s.planner.capabilities[role] = s.fleet.role[role].engine.capabilities();
    }
    return s;
}

struct Run {
    Scores whole;
    Scores last;  // of the last quarter
    std::vector<Decision> decisions;
    std::vector<TargetChange> targets;
    std::vector<std::string> violations;
    PerRole<Replicas> target;
    PerRole<Replicas> serving;
    std::int64_t ticks = 0;
    std::int64_t timeouts = 0;
    std::uint64_t digest = 0;

    // Largest and smallest target of a role within [from, to].
    [[nodiscard]] Replicas most(Role role, Replicas at_start, Seconds from, Seconds to) const {
        Replicas best = in_force(role, at_start, from);
        for (const TargetChange& c : targets) {
            if (c.role == role && c.at > TimePoint{from} && c.at <= TimePoint{to})
                best = std::max(best, c.to);
        }
        return best;
    }
    [[nodiscard]] Replicas in_force(Role role, Replicas at_start, Seconds at) const {
        Replicas n = at_start;
        for (const TargetChange& c : targets) {
            if (c.role == role && c.at <= TimePoint{at}) n = c.to;
        }
        return n;
    }
    // What a failing test shows: every change of a target, and the scores.
    [[nodiscard]] std::string story() const {
        std::string text;
        for (const TargetChange& c : targets) {
            text += "\n  t=" + std::to_string(seconds_of(c.at)) + " " + std::string{to_string(c.role)} + " " +
                    std::to_string(c.from.count()) + " -> " + std::to_string(c.to.count());
            for (const Decision& d : decisions) {
                if (d.at == c.at) text += " " + std::string{to_string(d.scale_to.reason)};
            }
        }
        text += "\n  attainment " + std::to_string(whole.attainment) + ", last quarter " +
                std::to_string(last.attainment) + " (TTFT " + std::to_string(last.ttft_attainment) +
                ", ITL " + std::to_string(last.itl_attainment) + "), GPU hours " +
                std::to_string(whole.gpu_time.count() / 3600.0);
        for (const std::string& v : violations) text += "\n  " + v;
        return text;
    }
};

inline Run run(const Setup& setup, std::uint64_t seed) {
    plan::Planner planner{setup.planner};
    Fleet fleet{setup.fleet, seed};
    LoopLimits limits;
    for (const Role role : all_roles) limits.minimum[role] = setup.planner.minimum(role);
    if (setup.planner.max_gpu_budget >= 0) limits.budget = Gpus{setup.planner.max_gpu_budget};
    ClosedLoop loop{planner, fleet, limits};
    const TimePoint end = setup.fleet.start + setup.length;
    loop.run_until(end);

    Run r;
    r.whole = fleet.scores(setup.fleet.start);
    r.last = fleet.scores(end - setup.length / 4.0);
    r.decisions = loop.decisions();
    r.targets = fleet.book().targets();
    r.violations = loop.violations();
    for (const Role role : all_roles) {
        r.target[role] = fleet.target(role);
        r.serving[role] = fleet.serving(role);
    }
    r.ticks = loop.ticks();
    r.timeouts = loop.timeouts();
    r.digest = loop.digest();
    return r;
}

}  // namespace dynaplan::sim
