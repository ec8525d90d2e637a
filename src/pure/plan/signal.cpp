#include "plan/signal.hpp"

#include <algorithm>

#include "model/estimate.hpp"

namespace dynaplan::plan {

namespace {

constexpr double ms_per_second = 1000.0;

std::optional<double> in_ms(std::optional<double> seconds) {
    if (!seconds) return std::nullopt;
    return *seconds * ms_per_second;
}

// What an empty engine would take lies outside what was seen: there the line itself answers, not the floor
// that an engine which has only been seen under load would put far above it.
model::Fit fit_at(const SignalInput& in, const EngineObservation& e, double load) {
    model::Fit fit = in.models->answering(e.engine).fit();
    if (load == 0.0) fit.floor = std::min(fit.floor, model::Fit{}.floor);
    return fit;
}

double kv_of(const ForwardPass& pass) {
    return static_cast<double>(pass.scheduled.sum_decode_kv_tokens) +
           static_cast<double>(pass.queued.sum_decode_kv_tokens);
}

std::optional<double> ttft(const SignalInput& in, const EngineObservation& e, double load, double decode_kv) {
    model::TtftQuery q;
    q.queued_prefill_tokens = static_cast<double>(e.pass.queued.sum_prefill_tokens) * load;
    q.avg_isl = in.traffic_isl ? *in.traffic_isl : in.models->fleet().avg_isl(in.now);
    q.kv_hit_rate = in.kv_hit_rate;
    q.max_num_batched_tokens = e.capabilities.max_num_batched_tokens
                                   ? e.capabilities.max_num_batched_tokens
                                   : in.capabilities->max_num_batched_tokens;
    q.decode_kv = decode_kv;
    return in_ms(model::estimate_ttft(fit_at(in, e, load), q));
}

std::optional<double> estimate_prefill_ttft(const SignalInput& in, const EngineObservation& e, double load) {
    return ttft(in, e, load, 0.0);
}

std::optional<double> estimate_agg_ttft(const SignalInput& in, const EngineObservation& e, double load) {
    return ttft(in, e, load, static_cast<double>(e.pass.scheduled.sum_decode_kv_tokens) * load);
}

std::optional<double> estimate_decode_itl(const SignalInput& in, const EngineObservation& e, double load) {
    const model::EngineModel& averages = in.models->averages(e.engine);
    return in_ms(model::estimate_itl_decode(fit_at(in, e, load), averages.avg_num_decode(in.now) * load,
                                            kv_of(e.pass) * load, averages.avg_decode_len(in.now)));
}

std::optional<double> estimate_agg_itl(const SignalInput& in, const EngineObservation& e, double load) {
    const model::EngineModel& averages = in.models->averages(e.engine);
    return in_ms(model::estimate_itl_agg(fit_at(in, e, load), averages.avg_prefill_tokens(in.now) * load,
                                         kv_of(e.pass) * load, averages.avg_decode_len(in.now)));
}

}  // namespace

const Signal prefill_ttft{Latency::ttft, estimate_prefill_ttft, true};
const Signal agg_ttft{Latency::ttft, estimate_agg_ttft, true};
const Signal decode_itl{Latency::itl, estimate_decode_itl, false};
const Signal agg_itl{Latency::itl, estimate_agg_itl, false};

}  // namespace dynaplan::plan
