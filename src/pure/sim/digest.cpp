#include "sim/digest.hpp"

#include <variant>

namespace dynaplan::sim {

namespace {

template <class... Fs>
struct Overloaded : Fs... {
    using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

}  // namespace

void Digest::put(const std::string& v) {
    put(v.size());
    for (const char c : v) put(c);
}

void Digest::put(const EngineKey& v) {
    put(v.worker_id);
    put(v.dp_rank);
}

void Digest::put(const Capabilities& v) {
    put(v.num_gpu);
    put(v.max_num_batched_tokens);
    put(v.max_num_seqs);
    put(v.context_length);
    put(v.max_kv_tokens);
}

void Digest::put(const ForwardPass& v) {
    put(v.counter_id);
    put(v.wall_time);
    const ScheduledRequests& s = v.scheduled;
    put(s.num_prefill_requests);
    put(s.sum_prefill_tokens);
    put(s.var_prefill_length);
    put(s.sum_prefill_kv_tokens);
    put(s.num_decode_requests);
    put(s.sum_decode_kv_tokens);
    put(s.var_decode_kv_tokens);
    const QueuedRequests& q = v.queued;
    put(q.num_prefill_requests);
    put(q.sum_prefill_tokens);
    put(q.var_prefill_length);
    put(q.num_decode_requests);
    put(q.sum_decode_kv_tokens);
    put(q.var_decode_kv_tokens);
}

void Digest::put(const Traffic& v) {
    put(v.duration);
    put(v.num_req);
    put(v.isl);
    put(v.osl);
    put(v.kv_hit_rate);
    put(v.ttft);
    put(v.itl);
}

void Digest::put(const Diagnostics& v) {
    put(v.estimated_ttft);
    put(v.estimated_itl);
    put(v.predicted_num_req);
    put(v.predicted_isl);
    put(v.predicted_osl);
    put(v.predicted_kv_hit_rate);
    put(v.load_decision_reason);
    put(v.throughput_decision_reason);
    for (const Role role : all_roles) {
        put(v.engine_rps[role]);
        put(v.throughput_lower_bound[role]);
        put(v.load_decision_reason_of[role]);
        put(v.throughput_decision_reason_of[role]);
    }
}

void Digest::add(const Event& e) {
    put(e.at);
    put(e.body.index());
    body(e.body);
}

void Digest::add(const Effect& e) {
    put(e.at);
    put(e.body.index());
    body(e.body);
}

void Digest::body(const EventBody& b) {
    std::visit(Overloaded{
                   [&](const EngineJoined& x) {
                       put(x.role);
                       put(x.engine);
                       put(x.capabilities);
                   },
                   [&](const EngineLeft& x) {
                       put(x.role);
                       put(x.engine);
                   },
                   [&](const FpmArrived& x) {
                       put(x.role);
                       put(x.fpm.worker_id);
                       put(x.fpm.dp_rank);
                       put(x.fpm.pass);
                   },
                   [&](const InventoryRead& x) {
                       put(x.role);
                       put(x.ready);
                       put(x.expected);
                       put(x.rolling);
                   },
                   [&](const TrafficObserved& x) {
                       put(x.window);
                       put(x.traffic.knowledge());
                       if (x.traffic.is_known()) put(x.traffic.value());
                   },
                   [&](const DecisionOutcome& x) {
                       put(x.decision_id);
                       put(x.outcome);
                   },
                   [&](const DecisionPublished& x) {
                       put(x.proposal);
                       put(x.decision_id);
                   },
                   [&](const DecisionRefused& x) {
                       put(x.proposal);
                       put(x.reason);
                   },
                   [&](const DecisionRestored& x) {
                       put(x.decision_id);
                       put(x.prefill);
                       put(x.decode);
                       put(x.state);
                       put(x.age);
                   },
                   [&](const ConfigChanged& x) {
                       for (const auto& field : x.set) {
                           put(field.first);
                           put(field.second.index());
                       }
                   },
                   [&](const BusChanged& x) { put(x.connected); },
                   [&](const LeaderChanged& x) { put(x.leading); },
                   [](const TickDue&) {},
               },
               b);
}

void Digest::body(const EffectBody& b) {
    std::visit(Overloaded{
                   [&](const ScaleTo& x) {
                       put(x.proposal);
                       put(x.prefill);
                       put(x.decode);
                       put(x.reason);
                       put(x.cancels);
                   },
                   [&](const TrafficWanted& x) { put(x.window); },
                   [&](const DiagnosticsReport& x) {
                       put(x.diagnostics);
                       put(x.ran_load);
                       put(x.ran_throughput);
                       put(x.fpm_observed);
                       put(x.fpm_repeated);
                       put(x.fpm_outliers);
                       for (const Hold& h : x.holds) {
                           put(h.role);
                           put(h.reason);
                           put(h.since);
                           put(h.deadline);
                       }
                   },
                   [&](const WakeAt& x) { put(x.at); },
                   [&](const ConfigRefused& x) { put(x.message); },
               },
               b);
}

}  // namespace dynaplan::sim
