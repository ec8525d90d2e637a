#include "sim/traffic_log.hpp"

#include <cstdint>

namespace dynaplan::sim {

namespace {

template <class List>
void forget(List& list, TimePoint before) {
    while (!list.empty() && list.front().at < before) list.pop_front();
}

}  // namespace

void TrafficLog::arrived(const Request& r) {
    forget(came_, r.arrived - kept);
    came_.push_back({r.arrived, static_cast<double>(r.isl), static_cast<double>(r.osl)});
}

void TrafficLog::finished(const Request& r) {
    forget(left_, r.last_token - kept);
    const Millis answer = r.last_token - r.first_token;
    left_.push_back({r.last_token, r.first_token - r.arrived,
                     r.generated > 1 ? answer / static_cast<double>(r.generated - 1) : Millis{0.0}});
}

Reading<Traffic> TrafficLog::window(TimePoint now, Seconds length, double kv_hit_rate) const {
    Traffic t;
    t.duration = length;
    for (auto it = came_.rbegin(); it != came_.rend() && it->at > now - length; ++it) {
        if (it->at > now) continue;
        t.num_req += 1.0;
        t.isl += it->isl;
        t.osl += it->osl;
    }
    if (t.num_req == 0.0) return Reading<Traffic>::idle();
    t.isl /= t.num_req;
    t.osl /= t.num_req;
    if (kv_hit_rate > 0.0) t.kv_hit_rate = kv_hit_rate;

    double n = 0.0;
    Millis ttft{0.0};
    Millis itl{0.0};
    for (auto it = left_.rbegin(); it != left_.rend() && it->at > now - length; ++it) {
        n += 1.0;
        ttft += it->ttft;
        itl += it->itl;
    }
    if (n > 0.0) {
        t.ttft = ttft / n;
        t.itl = itl / n;
    }
    return Reading<Traffic>::known(t);
}

}  // namespace dynaplan::sim
