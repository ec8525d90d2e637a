#include "bench/samples.hpp"

namespace dynaplan::bench {

ForwardPass prefill_pass(Draws& u) {
    ForwardPass p;
    const std::int64_t tokens = 64 + u.below(8000.0);
    p.scheduled.sum_prefill_tokens = tokens;
    p.scheduled.num_prefill_requests = 1 + tokens / 3000;
    p.queued.sum_prefill_tokens = u.below(20000.0);
    p.wall_time = (0.0045 + 3.1e-5 * static_cast<double>(tokens)) * (0.98 + 0.04 * u.next());
    return p;
}

ForwardPass decode_pass(Draws& u) {
    ForwardPass p;
    const std::int64_t n = 1 + u.below(200.0);
    const auto kv = static_cast<std::int64_t>(static_cast<double>(n) * (500.0 + 3500.0 * u.next()));
    p.scheduled.num_decode_requests = n;
    p.scheduled.sum_decode_kv_tokens = kv;
    p.wall_time = (0.0048 + 2e-5 * static_cast<double>(n) + 2.6e-8 * static_cast<double>(kv)) *
                  (0.98 + 0.04 * u.next());
    return p;
}

ForwardPass agg_pass(Draws& u) {
    ForwardPass p;
    const std::int64_t tokens = u.below(2500.0);
    const std::int64_t n = 1 + u.below(200.0);
    const auto kv = static_cast<std::int64_t>(static_cast<double>(n) * (500.0 + 3500.0 * u.next()));
    p.scheduled.sum_prefill_tokens = tokens;
    p.scheduled.num_prefill_requests = 1 + tokens / 3000;
    p.scheduled.num_decode_requests = n;
    p.scheduled.sum_decode_kv_tokens = kv;
    p.wall_time = (0.0048 + 3.1e-5 * static_cast<double>(tokens) + 2e-5 * static_cast<double>(n) +
                   2.6e-8 * static_cast<double>(kv)) *
                  (0.98 + 0.04 * u.next());
    p.queued.sum_prefill_tokens = u.below(20000.0);
    return p;
}

ForwardPass pass_of(model::ModelKind kind, Draws& u) {
    switch (kind) {
        case model::ModelKind::prefill: return prefill_pass(u);
        case model::ModelKind::decode: return decode_pass(u);
        case model::ModelKind::agg: break;
    }
    return agg_pass(u);
}

std::vector<ForwardPass> passes_of(model::ModelKind kind, Draws& u, std::int64_t count) {
    std::vector<ForwardPass> passes;
    passes.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) passes.push_back(pass_of(kind, u));
    return passes;
}

Traffic traffic(Draws& u) {
    Traffic t;
    t.duration = Seconds{60.0};
    t.num_req = 1000.0 + 500.0 * u.next();
    t.isl = 2500.0 + 1000.0 * u.next();
    t.osl = 200.0 + 100.0 * u.next();
    t.kv_hit_rate = 0.3;
    return t;
}

Capabilities tick_capabilities() {
    Capabilities c;
    c.num_gpu = Gpus{1};
    c.max_num_batched_tokens = 8192;
    c.max_num_seqs = 512;
    c.max_kv_tokens = 1'200'000;
    return c;
}

PlannerConfig tick_config(Preset preset) {
    PlannerConfig c = config_of(preset);
    c.mode = Mode::disagg;
    c.optimization_target = OptimizationTarget::sla;
    c.enable_load_scaling = true;
    c.enable_throughput_scaling = true;
    c.load_predictor = LoadPredictor::kalman;
    c.ttft = Millis{500.0};
    c.itl = Millis{12.0};
    c.throughput_adjustment_interval = Seconds{60.0};
    c.load_adjustment_interval = Seconds{5.0};
    c.max_gpu_budget = -1;
    c.max_num_fpm_samples = 64;
    c.fpm_sample_bucket_size = 16;
    c.load_min_observations = 5;
    c.capabilities = {tick_capabilities(), tick_capabilities()};
    return c;
}

model::ModelSettings model_settings(model::ModelKind kind, Preset preset) {
    const Policy policy = policy_of(preset);
    model::ModelSettings s;
    s.kind = kind;
    s.window = 64;
    s.buckets = 16;
    s.min_observations = 5;
    s.retirement = policy.retirement;
    s.axis_bounds = policy.axis_bounds;
    s.regression_fit = policy.regression_fit;
    s.estimate_floor = policy.estimate_floor;
    s.averages = policy.averages;
    s.averages_window = policy.averages_window;
    return s;
}

std::string worker_id(std::int64_t number) { return std::to_string(7'587'890'125'863'000'000 + number); }

}  // namespace dynaplan::bench
