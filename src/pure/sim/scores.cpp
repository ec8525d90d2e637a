#include "sim/scores.hpp"

#include <algorithm>
#include <cstddef>

namespace dynaplan::sim {

namespace {

// The value that the given part of the list does not exceed.
Millis quantile(std::vector<Millis>& values, double part) {
    if (values.empty()) return Millis{0.0};
    const auto n = static_cast<std::size_t>(part * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n), values.end());
    return values[n];
}

double part_of(std::int64_t met, std::int64_t all) {
    return all == 0 ? 1.0 : static_cast<double>(met) / static_cast<double>(all);
}

}  // namespace

void Scorebook::finished(const Request& r) {
    const Millis answer = r.last_token - r.first_token;
    const Millis itl = r.generated > 1 ? answer / static_cast<double>(r.generated - 1) : Millis{0.0};
    done_.push_back({r.arrived, r.first_token - r.arrived, itl});
}

std::int64_t Scorebook::reversals(Role role, Seconds within) const {
    std::int64_t n = 0;
    const TargetChange* last = nullptr;
    for (const TargetChange& c : targets_) {
        if (c.role != role) continue;
        if (last != nullptr && (c.to > c.from) != (last->to > last->from) && c.at - last->at < within) ++n;
        last = &c;
    }
    return n;
}

Scores Scorebook::scores(TimePoint from, TimePoint to, std::int64_t overdue) const {
    Scores s;
    s.overdue = overdue;
    s.refused = refused_;
    for (const TimePoint at : arrivals_) {
        if (at >= from && at < to) ++s.arrived;
    }
    std::int64_t ttft_met = 0;
    std::int64_t itl_met = 0;
    std::int64_t both_met = 0;
    std::vector<Millis> ttft;
    std::vector<Millis> itl;
    for (const Done& d : done_) {
        if (d.arrived < from || d.arrived >= to) continue;
        ttft_met += d.ttft <= ttft_;
        itl_met += d.itl <= itl_;
        both_met += d.ttft <= ttft_ && d.itl <= itl_;
        ttft.push_back(d.ttft);
        itl.push_back(d.itl);
    }
    s.finished = static_cast<std::int64_t>(ttft.size());
    s.ttft_attainment = part_of(ttft_met, s.finished + overdue);
    s.itl_attainment = part_of(itl_met, s.finished);
    s.attainment = part_of(both_met, s.finished + overdue);
    s.ttft_median = quantile(ttft, 0.5);
    s.ttft_p95 = quantile(ttft, 0.95);
    s.itl_median = quantile(itl, 0.5);
    s.itl_p95 = quantile(itl, 0.95);
    s.gpu_time = gpu_time_;
    s.gpus_most = gpus_most_;
    for (const Role role : all_roles) s.reversals[role] = reversals(role, reversal_window);
    return s;
}

}  // namespace dynaplan::sim
