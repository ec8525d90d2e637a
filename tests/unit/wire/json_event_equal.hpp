// Whether two events are the same to the last bit, member by member. The core's events have no operator== of
// their own: nothing but a test compares them.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <variant>

#include "core/event.hpp"

namespace dynaplan::wire {

inline bool same(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}
inline bool same(const std::optional<double>& a, const std::optional<double>& b) {
    return a.has_value() == b.has_value() && (!a || same(*a, *b));
}
inline bool same(const std::optional<Millis>& a, const std::optional<Millis>& b) {
    return a.has_value() == b.has_value() && (!a || same(a->count(), b->count()));
}
inline bool same(const FieldValue& a, const FieldValue& b) {
    const double* x = std::get_if<double>(&a);
    const double* y = std::get_if<double>(&b);
    return x != nullptr && y != nullptr ? same(*x, *y) : a == b;
}

inline bool same(const EngineJoined& a, const EngineJoined& b) {
    return a.role == b.role && a.engine == b.engine && a.capabilities == b.capabilities;
}
inline bool same(const EngineLeft& a, const EngineLeft& b) {
    return a.role == b.role && a.engine == b.engine;
}
inline bool same(const FpmArrived& a, const FpmArrived& b) {
    const ForwardPass& p = a.fpm.pass;
    const ForwardPass& q = b.fpm.pass;
    return a.role == b.role && a.fpm == b.fpm && same(p.wall_time, q.wall_time) &&
           same(p.scheduled.var_prefill_length, q.scheduled.var_prefill_length) &&
           same(p.scheduled.var_decode_kv_tokens, q.scheduled.var_decode_kv_tokens) &&
           same(p.queued.var_prefill_length, q.queued.var_prefill_length) &&
           same(p.queued.var_decode_kv_tokens, q.queued.var_decode_kv_tokens);
}
inline bool same(const InventoryRead& a, const InventoryRead& b) {
    return a.role == b.role && a.ready == b.ready && a.expected == b.expected && a.rolling == b.rolling;
}
inline bool same(const TrafficObserved& a, const TrafficObserved& b) {
    if (!same(a.window.count(), b.window.count()) || a.traffic.knowledge() != b.traffic.knowledge())
        return false;
    if (!a.traffic.is_known()) return true;
    const Traffic& x = a.traffic.value();
    const Traffic& y = b.traffic.value();
    return same(x.duration.count(), y.duration.count()) && same(x.num_req, y.num_req) && same(x.isl, y.isl) &&
           same(x.osl, y.osl) && same(x.kv_hit_rate, y.kv_hit_rate) && same(x.ttft, y.ttft) &&
           same(x.itl, y.itl);
}
inline bool same(const TickDue&, const TickDue&) { return true; }
inline bool same(const DecisionOutcome& a, const DecisionOutcome& b) {
    return a.decision_id == b.decision_id && a.outcome == b.outcome;
}
inline bool same(const DecisionPublished& a, const DecisionPublished& b) {
    return a.proposal == b.proposal && a.decision_id == b.decision_id;
}
inline bool same(const DecisionRefused& a, const DecisionRefused& b) {
    return a.proposal == b.proposal && a.reason == b.reason;
}
inline bool same(const DecisionRestored& a, const DecisionRestored& b) {
    return a.decision_id == b.decision_id && a.prefill == b.prefill && a.decode == b.decode &&
           a.state == b.state && same(a.age.count(), b.age.count());
}
inline bool same(const ConfigChanged& a, const ConfigChanged& b) {
    if (a.set.size() != b.set.size()) return false;
    for (std::size_t i = 0; i < a.set.size(); ++i) {
        if (a.set[i].first != b.set[i].first || !same(a.set[i].second, b.set[i].second)) return false;
    }
    return true;
}
inline bool same(const BusChanged& a, const BusChanged& b) { return a.connected == b.connected; }
inline bool same(const LeaderChanged& a, const LeaderChanged& b) { return a.leading == b.leading; }

inline bool same(const Event& a, const Event& b) {
    if (!same(seconds_of(a.at), seconds_of(b.at)) || a.body.index() != b.body.index()) return false;
    return std::visit([&](const auto& x) { return same(x, std::get<std::decay_t<decltype(x)>>(b.body)); },
                      a.body);
}

}  // namespace dynaplan::wire
