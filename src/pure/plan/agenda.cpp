#include "plan/agenda.hpp"

#include <algorithm>

namespace dynaplan::plan {

Agenda::Agenda(const PlannerConfig& c)
    : load_interval_{c.load_adjustment_interval},
      throughput_interval_{c.throughput_adjustment_interval},
      traffic_wait_{c.traffic_wait},
      reaction_min_interval_{c.policy.reaction_min_interval},
      throughput_{c.enable_throughput_scaling} {}

void Agenda::start(TimePoint at) {
    start_ = at;
    last_load_ = at;
}

void Agenda::resume(TimePoint now) {
    const auto first_after = [&](Seconds interval, std::int64_t count) {
        const auto passed = static_cast<std::int64_t>((now - start_) / interval);
        return std::max(count, passed + 1);
    };
    load_count_ = first_after(load_interval_, load_count_);
    throughput_count_ = first_after(throughput_interval_, throughput_count_);
    open_since_.reset();
    merged_load_ = false;
    pulled_.reset();
    last_load_ = std::max(last_load_, now);
}

TimePoint Agenda::throughput_due() const {
    return throughput_ ? start_ + throughput_interval_ * static_cast<double>(throughput_count_) : never;
}

TimePoint Agenda::next_load() const { return pulled_ ? std::min(*pulled_, load_due()) : load_due(); }

TimePoint Agenda::next() const {
    if (open_since_) return std::min(*open_since_ + traffic_wait_, next_load());
    return std::min(next_load(), throughput_due());
}

void Agenda::take_load(TimePoint now) {
    if (pulled_ && *pulled_ <= now + merge_tolerance) pulled_.reset();
    while (load_due() <= now + merge_tolerance) ++load_count_;
    last_load_ = now;
}

bool Agenda::open_if_due(TimePoint now) {
    if (open_since_ || throughput_due() > now) return false;
    open_since_ = throughput_due();
    while (throughput_due() <= now) ++throughput_count_;
    return true;
}

// The open throughput tick runs at `now`, with the load part if one was merged or is due within the
// tolerance.
Agenda::Due Agenda::close(TimePoint now) {
    open_since_.reset();
    const bool load = merged_load_ || next_load() <= now + merge_tolerance;
    merged_load_ = false;
    if (load) take_load(now);
    return {Kind::run_tick, load, true};
}

Agenda::Due Agenda::run_next(TimePoint now) {
    if (open_since_) {
        if (*open_since_ + traffic_wait_ <= now) return close(now);
        merged_load_ = true;  // a load tick fell due while the throughput tick is open
        pulled_.reset();
        while (load_due() <= now) ++load_count_;
        return {Kind::run_tick, false, false};
    }
    if (open_if_due(now)) return {Kind::open_throughput, false, true};
    take_load(now);
    return {Kind::run_tick, true, false};
}

std::optional<Agenda::Due> Agenda::traffic_came(TimePoint now) {
    if (!open_since_) return std::nullopt;
    return close(now);
}

void Agenda::pull_load(TimePoint now) {
    const TimePoint wanted = std::max(now, last_load_ + reaction_min_interval_);
    if (wanted >= load_due() || (pulled_ && *pulled_ <= wanted)) return;
    pulled_ = wanted;
}

}  // namespace dynaplan::plan
