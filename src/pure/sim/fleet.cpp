#include "sim/fleet.hpp"

#include <cmath>
#include <iterator>
#include <utility>

#include "core/assert.hpp"

namespace dynaplan::sim {

namespace {

// Purposes of the random streams: a change of one thing leaves the others as they were.
constexpr std::uint64_t stream_engines = 1;
constexpr std::uint64_t stream_channel = 2;
constexpr std::uint64_t stream_startup = 3;
constexpr std::uint64_t stream_arrivals = 4;

}  // namespace

Fleet::Fleet(FleetConfig config, std::uint64_t seed)
    : config_{std::move(config)},
      now_{config_.start},
      engine_seeds_{Random{seed}.fork(stream_engines)},
      channel_{Random{seed}.fork(stream_channel)},
      startup_{Random{seed}.fork(stream_startup)},
      arrivals_{config_.traffic, config_.start, Random{seed}.fork(stream_arrivals)},
      book_{config_.ttft, config_.itl} {
    DYNAPLAN_ASSERT(problems(config_).empty());
    for (const Role role : all_roles) {
        if (!has_role(config_.mode, role)) continue;
        target_[role] = config_.role[role].replicas;
        for (std::int64_t i = 0; i < target_[role]; ++i) serve(add_replica(role));
    }
    for (const Role role : all_roles) {
        if (has_role(config_.mode, role)) counts_changed(role);
    }
    for (std::size_t i = 0; i < config_.faults.size(); ++i) {
        const auto index = static_cast<std::uint32_t>(i);
        agenda_.put(config_.start + config_.faults[i].from, Kind::fault, index);
        if (std::isfinite(config_.faults[i].until.count())) {
            agenda_.put(config_.start + config_.faults[i].until, Kind::fault, index);
        }
    }
    if (config_.inventory_interval.count() > 0.0) {
        agenda_.put(now_ + config_.inventory_interval, Kind::inventory);
    }
    schedule_arrival();
}

std::optional<TimePoint> Fleet::next_time() const {
    if (!outbox_.empty()) return outbox_.front().at;
    return agenda_.next();
}

void Fleet::run_until(TimePoint t, std::vector<Event>& out) {
    while (true) {
        const auto next = agenda_.next();
        if (!next || *next > t) break;
        const AgendaItem item = agenda_.take();
        now_ = item.at;
        happen(item);
    }
    if (t > now_) now_ = t;
    out.insert(out.end(), std::make_move_iterator(outbox_.begin()), std::make_move_iterator(outbox_.end()));
    outbox_.clear();
}

void Fleet::happen(const AgendaItem& item) {
    switch (item.kind) {
        case Kind::arrival: on_arrival(); break;
        case Kind::pass_end: on_pass_end(item.index); break;
        case Kind::heartbeat: on_heartbeat(item.index, item.epoch); break;
        case Kind::handover: route(in_transfer_.take(item.index), Role::decode); break;
        case Kind::replica_ready:
            if (replicas_[item.index].state != State::starting) break;
            serve(item.index);
            counts_changed(replicas_[item.index].role);
            break;
        case Kind::fault: on_fault(config_.faults[item.index]); break;
        case Kind::inventory:
            for (const Role role : all_roles) {
                if (has_role(config_.mode, role)) read_inventory(role);
            }
            agenda_.put(now_ + config_.inventory_interval, Kind::inventory);
            break;
        case Kind::acknowledge: {
            const DecisionId id = acknowledgements_.take(item.index);
            if (open_ != id) break;  // another decision came first
            open_.reset();
            emit(DecisionOutcome{id, OutcomeKind::acknowledged});
            break;
        }
        case Kind::traffic: {
            const Question q = questions_.take(item.index);
            bool readable = true;
            for (const Outage& o : config_.traffic_outages) {
                readable = readable && !(now_ >= config_.start + o.from && now_ < config_.start + o.until);
            }
            emit(TrafficObserved{q.window, readable
                                               ? log_.window(q.asked, q.window, config_.traffic.kv_hit_rate)
                                               : Reading<Traffic>::unknown()});
            break;
        }
        case Kind::deliver: emit(held_back_.take(item.index).body); break;
    }
}

void Fleet::apply(const ScaleTo& decision, TimePoint now, DecisionId id) {
    DYNAPLAN_ASSERT(now >= now_);
    now_ = now;
    open_ = id;
    // Shrinking first: a swap at a full budget never holds more than the budget.
    PerRole<std::optional<Replicas>> wanted{decision.prefill, decision.decode};
    for (const bool grow : {false, true}) {
        for (const Role role : all_roles) {
            if (!has_role(config_.mode, role) || !wanted[role]) continue;
            const std::int64_t n = wanted[role]->count();
            if (n != target_[role] && (n > target_[role]) == grow) set_target(role, n);
        }
    }
    if (config_.acknowledge.when == Acknowledge::When::after_delay) {
        agenda_.put(now + config_.acknowledge.delay, Kind::acknowledge, acknowledgements_.put(id));
    }
    acknowledge_if_ready();
}

void Fleet::ask_traffic(Seconds window, TimePoint now) {
    DYNAPLAN_ASSERT(now >= now_);
    agenda_.put(now + config_.traffic_delay, Kind::traffic, questions_.put({window, now}));
}

Scores Fleet::scores(TimePoint from, TimePoint to) const {
    std::int64_t overdue = 0;
    const auto look = [&](const Request& r) {
        if (r.arrived >= from && r.arrived < to && r.generated == 0 && now_ - r.arrived > config_.ttft)
            ++overdue;
    };
    for (const Slot& slot : slots_) slot.engine.for_each(look);
    for (const Role role : all_roles) {
        for (const Request& r : parked_[role]) look(r);
    }
    Scores s = book_.scores(from, to, overdue);
    for (const Replica& r : replicas_) {
        if (r.state != State::gone)
            s.gpu_time += static_cast<double>(gpus_of(r.role).count()) * (now_ - r.since);
    }
    return s;
}

}  // namespace dynaplan::sim
