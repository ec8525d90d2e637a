#include "reference/random_world.hpp"

#include <algorithm>
#include <cmath>

#include "core/config_field.hpp"

namespace dynaplan::reference {

std::uint64_t Dice::bits() {
    // SplitMix64 (Steele, Lea, Flood 2014).
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

RandomWorld::RandomWorld(std::uint64_t seed) : dice_{seed}, config_{config_of(Preset::dynamo)} {
    choose_config();
    choose_capabilities();
    lone_point_ = dice_.chance(0.05);
    for (const Role role : all_roles) {
        const bool prompts = role == Role::prefill || config_.mode == Mode::agg;
        truth_[role].per_0 = prompts ? dice_.between(1e-5, 5e-5) : dice_.between(0.0, 5e-5);
        truth_[role].per_1 = dice_.between(1e-8, 5e-8);
        if (dice_.chance(0.15)) truth_[role].per_0 = -truth_[role].per_0 / 10.0;
        if (dice_.chance(0.1)) truth_[role].per_1 = -truth_[role].per_1 / 10.0;
        truth_[role].noise = dice_.one_of({0.0, 0.01, 0.05, 0.3});
        level_[role] = dice_.share();
        for (std::int64_t i = dice_.among(4); i >= 0; --i)
            fleet_[role].push_back({workers_ever_++, dice_.one_of<std::int64_t>({1, 1, 1, 2})});
        if (dice_.chance(0.5)) {
            for (std::int64_t i = dice_.among(20); i > 0; --i) bootstrap_[role].push_back(pass(role));
        }
    }
}

void RandomWorld::choose_config() {
    PlannerConfig& c = config_;
    c.mode = dice_.one_of({Mode::disagg, Mode::disagg, Mode::prefill, Mode::decode, Mode::agg, Mode::agg});
    c.optimization_target =
        dice_.one_of({OptimizationTarget::sla, OptimizationTarget::sla, OptimizationTarget::sla,
                      OptimizationTarget::throughput, OptimizationTarget::latency});
    c.enable_load_scaling = dice_.chance(0.85);
    c.enable_throughput_scaling = dice_.chance(0.6);
    force_easy_target(c);
    c.load_adjustment_interval = Seconds{dice_.one_of({5.0, 10.0, 7.3})};
    c.throughput_adjustment_interval = Seconds{dice_.one_of({60.0, 30.0, 20.4})};
    c.ttft = Millis{dice_.one_of({100.0, 300.0, 500.0, 1000.0})};
    c.itl = Millis{dice_.one_of({8.0, 12.0, 20.0, 50.0})};
    c.load_scaling_down_sensitivity = dice_.one_of<std::int64_t>({80, 80, 50, 100, 0, 37});
    c.max_gpu_budget = dice_.one_of<std::int64_t>({-1, -1, 0, 4, 8, 16, 64});
    c.min_endpoint = dice_.one_of<std::int64_t>({1, 1, 1, 0, 2, 3});
    c.load_predictor = dice_.one_of({LoadPredictor::constant, LoadPredictor::kalman});
    c.max_num_fpm_samples = dice_.one_of<std::int64_t>({64, 32, 12, 5});
    c.fpm_sample_bucket_size = dice_.one_of<std::int64_t>({16, 4, 9, 1, 25});
    c.load_min_observations = dice_.one_of<std::int64_t>({5, 5, 1, 3, 12});
}

void RandomWorld::choose_capabilities() {
    for (const Role role : all_roles) {
        Capabilities& c = capabilities_[role];
        if (dice_.chance(0.9)) c.num_gpu = Gpus{dice_.one_of<std::int64_t>({1, 2, 4})};
        if (dice_.chance(0.9)) c.max_num_batched_tokens = dice_.one_of<std::int64_t>({8192, 2048, 512, 0});
        if (dice_.chance(0.8)) c.max_num_seqs = dice_.one_of<std::int64_t>({256, 64, 8, 0});
        if (dice_.chance(0.8)) c.context_length = dice_.one_of<std::int64_t>({32768, 8192, 0});
        if (dice_.chance(0.8)) c.max_kv_tokens = dice_.one_of<std::int64_t>({400'000, 60'000, 0});
    }
}

ForwardPass RandomWorld::pass(Role role) {
    ForwardPass p;
    const bool agg = config_.mode == Mode::agg;
    const double load = std::max(0.0, level_[role] * dice_.between(0.7, 1.3));
    if (role == Role::prefill || agg) {
        p.scheduled.num_prefill_requests = dice_.among(4);
        if (p.scheduled.num_prefill_requests > 0)
            p.scheduled.sum_prefill_tokens = lone_point_ ? 700 : 1 + dice_.among(8000);
        p.queued.sum_prefill_tokens = static_cast<std::int64_t>(load * 30'000.0);
        if (dice_.chance(0.1)) p.queued.sum_prefill_tokens = 0;
    }
    if (role == Role::decode) {
        p.scheduled.num_decode_requests =
            lone_point_ ? 9 : static_cast<std::int64_t>(load * 200.0 * dice_.share());
        p.scheduled.sum_decode_kv_tokens =
            lone_point_ ? 9'000 : p.scheduled.num_decode_requests * (200 + dice_.among(3'000));
        if (dice_.chance(0.2)) p.queued.sum_decode_kv_tokens = dice_.among(100'000);
    }
    const Truth& t = truth_[role];
    const auto x0 = static_cast<double>(role == Role::prefill || agg ? p.scheduled.sum_prefill_tokens
                                                                     : p.scheduled.num_decode_requests);
    const auto x1 = role == Role::prefill ? 0.0 : static_cast<double>(p.scheduled.sum_decode_kv_tokens);
    const double wall = (t.base + t.per_0 * x0 + t.per_1 * x1) * (1.0 + t.noise * dice_.between(-1.0, 1.0));
    p.wall_time = dice_.chance(0.05) ? 0.0 : std::max(wall, 1e-5);
    return p;
}

void RandomWorld::drift(Role role) {
    level_[role] = std::clamp(level_[role] + dice_.between(-0.15, 0.15), -0.1, 1.2);
}

void RandomWorld::list(Role role) {
    std::vector<Worker>& fleet = fleet_[role];
    std::vector<EngineObservation>& out = engines_[role];
    out.clear();
    if (dice_.chance(0.05) && fleet.size() > 1) std::swap(fleet.front(), fleet.back());
    for (const Worker& w : fleet) {
        if (dice_.chance(0.01)) continue;  // has not reported yet
        const std::int64_t ranks = dice_.chance(0.01) ? w.ranks + 1 : w.ranks;
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
            EngineObservation& e = out.emplace_back();
            e.engine = static_cast<EngineIndex>(w.number * 4 + static_cast<std::uint32_t>(rank));
            e.worker = static_cast<WorkerIndex>(w.number);
            e.dp_rank = rank;
            e.pass = pass(role);
        }
    }
    if (dice_.chance(0.03)) out.clear();
}

std::optional<WorkerCounts> RandomWorld::counts() {
    if (dice_.chance(0.05)) return std::nullopt;
    WorkerCounts counts;
    for (const Role role : all_roles) {
        const auto n = static_cast<std::int64_t>(fleet_[role].size());
        if (!dice_.chance(0.03)) counts.ready[role] = Replicas{dice_.chance(0.03) ? n + 1 : n};
        if (dice_.chance(0.6)) counts.expected[role] = Replicas{dice_.chance(0.1) ? n + 1 : n};
    }
    return counts;
}

ScheduledTick RandomWorld::bent(ScheduledTick tick) {
    if (tick.run_throughput || !dice_.chance(0.02)) return tick;
    tick.run_throughput = tick.need_traffic = true;
    tick.traffic_duration = config_.throughput_adjustment_interval;
    return tick;
}

TickInput RandomWorld::input(const ScheduledTick& tick) {
    TickInput in;
    in.now = tick.at + Seconds{dice_.chance(0.7) ? 0.0 : dice_.between(0.0, 0.7)};
    for (const Role role : all_roles) {
        drift(role);
        // Ranks of one deployment are alike, most of the time.
        if (!fleet_[role].empty() && dice_.chance(0.9)) {
            for (Worker& w : fleet_[role]) w.ranks = fleet_[role].front().ranks;
        }
        list(role);
    }
    in.worker_counts = counts();
    if (tick.run_load && !dice_.chance(0.03)) in.fpm = FpmSnapshot{engines_.prefill, engines_.decode};
    if ((tick.need_traffic && !dice_.chance(0.1)) || dice_.chance(0.02)) {
        Traffic t;
        t.duration = Seconds{dice_.chance(0.03) ? 0.0 : tick.traffic_duration.count()};
        if (tick.run_throughput || dice_.chance(0.1)) {
            t.num_req = dice_.chance(0.1) ? 0.0 : dice_.between(0.0, 4000.0);
            t.isl = dice_.chance(0.05) ? 0.0 : dice_.between(50.0, 9000.0);
            t.osl = dice_.chance(0.05) ? 0.0 : dice_.between(0.3, 600.0);
        }
        if (dice_.chance(0.05)) t.num_req = std::nan("");
        if (dice_.chance(0.7)) t.kv_hit_rate = dice_.one_of({0.0, 0.3, 0.6, 1.2, -0.5, std::nan("")});
        in.traffic = Reading<Traffic>::known(t);
    }
    return in;
}

void RandomWorld::follow(const std::optional<ScalingTarget>& target) {
    constexpr std::size_t most = 9;
    for (const Role role : all_roles) {
        std::vector<Worker>& fleet = fleet_[role];
        std::size_t wanted = fleet.size();
        if (target && (*target)[role] && dice_.chance(0.7))
            wanted = static_cast<std::size_t>(std::min<std::int64_t>((*target)[role]->count(), most));
        if (dice_.chance(0.03)) wanted = static_cast<std::size_t>(dice_.among(6));
        while (fleet.size() > wanted) fleet.pop_back();
        while (fleet.size() < wanted)
            fleet.push_back({workers_ever_++, fleet.empty() ? 1 : fleet.front().ranks});
    }
}

}  // namespace dynaplan::reference
