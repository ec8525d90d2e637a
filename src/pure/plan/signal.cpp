#include "plan/signal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/estimate.hpp"

namespace dynaplan::plan {

namespace {

constexpr double ms_per_second = 1000.0;

double kv_of(const ForwardPass& pass) {
    return static_cast<double>(pass.scheduled.sum_decode_kv_tokens) +
           static_cast<double>(pass.queued.sum_decode_kv_tokens);
}

// A signal in two halves: whether it can speak of an engine whose fit is accepted, and what it says, seconds.
template <bool with_decode>
struct Ttft {
    static std::int64_t chunk(const SignalInput& in, const EngineObservation& e) {
        return e.capabilities.max_num_batched_tokens.value_or(
            in.capabilities->max_num_batched_tokens.value_or(0));
    }
    static bool ready(const SignalInput& in, const EngineObservation& e) { return chunk(in, e) > 0; }
    static double seconds(const SignalInput& in, const EngineObservation& e, const model::Fit& fit,
                          double load) {
        model::TtftQuery q;
        q.queued_prefill_tokens = static_cast<double>(e.pass.queued.sum_prefill_tokens) * load;
        q.avg_isl = in.isl;
        q.kv_hit_rate = in.kv_hit_rate;
        q.max_num_batched_tokens = chunk(in, e);
        if (with_decode) q.decode_kv = static_cast<double>(e.pass.scheduled.sum_decode_kv_tokens) * load;
        return model::ttft_of(fit, q);
    }
};

struct DecodeItl {
    static bool ready(const SignalInput&, const EngineObservation&) { return true; }
    static double seconds(const SignalInput& in, const EngineObservation& e, const model::Fit& fit,
                          double load) {
        const model::AgeingAverages& a = in.models->averages(e.engine, in.now);
        return model::itl_of_decode(fit, a.at(a.num_decode, in.now) * load, kv_of(e.pass) * load,
                                    a.at(a.decode_len, in.now));
    }
};

struct AggItl {
    static bool ready(const SignalInput&, const EngineObservation&) { return true; }
    static double seconds(const SignalInput& in, const EngineObservation& e, const model::Fit& fit,
                          double load) {
        const model::AgeingAverages& a = in.models->averages(e.engine, in.now);
        return model::itl_of_agg(fit, a.at(a.prefill_tokens, in.now) * load, kv_of(e.pass) * load,
                                 a.at(a.decode_len, in.now));
    }
};

// Nothing where NaN: an optional in a loop over engines would cost more than the estimate.
template <class Of>
double estimate_ms(const SignalInput& in, const EngineObservation& e, double load) {
    const model::Fit& fit = in.models->fit(e.engine);
    if (!fit.accepted() || !Of::ready(in, e)) return std::numeric_limits<double>::quiet_NaN();
    if (load != 0.0) return Of::seconds(in, e, fit, load) * ms_per_second;
    // What an empty engine would take lies outside what was seen: there the line itself answers, not the
    // floor that an engine which has only been seen under load would put far above it.
    model::Fit line = fit;
    line.floor = std::min(line.floor, model::Fit{}.floor);
    return Of::seconds(in, e, line, load) * ms_per_second;
}

template <class Of>
std::optional<double> one(const SignalInput& in, const EngineObservation& e, double load) {
    const double ms = estimate_ms<Of>(in, e, load);
    return std::isnan(ms) ? std::nullopt : std::optional{ms};
}

template <class Of>
EstimateRange all(const SignalInput& in, std::span<const EngineObservation* const> engines, double load) {
    EstimateRange range;
    for (const EngineObservation* e : engines) {
        const double ms = estimate_ms<Of>(in, *e, load);
        if (std::isnan(ms)) continue;
        range.largest = range.engines == 0 ? ms : std::max(range.largest, ms);
        range.smallest = range.engines == 0 ? ms : std::min(range.smallest, ms);
        ++range.engines;
    }
    return range;
}

template <class Of>
constexpr Signal signal_of(Latency latency, bool needs_batched_tokens) {
    return {latency, one<Of>, all<Of>, needs_batched_tokens};
}

}  // namespace

SignalInput SignalInput::of(const model::RoleModel& models, const Capabilities& capabilities,
                            double kv_hit_rate, std::optional<double> traffic_isl, TimePoint now) {
    return {&models, &capabilities, kv_hit_rate, traffic_isl ? *traffic_isl : models.fleet().avg_isl(now),
            now};
}

const Signal prefill_ttft = signal_of<Ttft<false>>(Latency::ttft, true);
const Signal agg_ttft = signal_of<Ttft<true>>(Latency::ttft, true);
const Signal decode_itl = signal_of<DecodeItl>(Latency::itl, false);
const Signal agg_itl = signal_of<AggItl>(Latency::itl, false);

}  // namespace dynaplan::plan
