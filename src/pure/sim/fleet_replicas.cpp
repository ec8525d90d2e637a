// The fleet's replicas: start-up, discovery, draining, crashes, and what the operator says of them.
#include <algorithm>
#include <string>
#include <utility>

#include "core/assert.hpp"
#include "sim/fleet.hpp"

namespace dynaplan::sim {

std::uint32_t Fleet::add_replica(Role role) {
    const auto index = static_cast<std::uint32_t>(replicas_.size());
    Replica r;
    r.role = role;
    r.number = created_[role]++;
    r.worker_id = std::to_string(index + 1);
    r.since = now_;
    const EngineConfig& config = config_.role[role].engine;
    for (std::int64_t rank = 0; rank < config.dp_ranks; ++rank) {
        const auto slot = static_cast<std::uint32_t>(slots_.size());
        r.engines.push_back(slot);
        const Duty duty = role == Role::prefill ? Duty::hand_over : Duty::decode;
        slots_.push_back({Engine{config, duty, engine_seeds_.fork(slot)}, index, rank, 0, true});
    }
    replicas_.push_back(std::move(r));
    return index;
}

void Fleet::start_replica(Role role) {
    const std::uint32_t index = add_replica(role);
    const Startup& s = config_.role[role].startup;
    const bool never = startup_.chance(s.never);
    const Seconds time = s.typical * startup_.lognormal(s.spread);
    if (!never) agenda_.put(now_ + time, Kind::replica_ready, index);
}

void Fleet::serve(std::uint32_t replica) {
    Replica& r = replicas_[replica];
    const Role role = r.role;
    r.state = State::serving;
    ++serving_[role];
    for (const std::uint32_t engine : r.engines) {
        emit(EngineJoined{
            role, {r.worker_id, slots_[engine].dp_rank}, config_.role[role].engine.capabilities()});
        routable_[role].push_back(engine);
        agenda_.put(now_ + config_.heartbeat, Kind::heartbeat, engine, slots_[engine].epoch);
    }
    std::deque<Request> parked = std::exchange(parked_[role], {});
    for (Request& request : parked) route(std::move(request), role);
}

void Fleet::drain(std::uint32_t replica) {
    Replica& r = replicas_[replica];
    --serving_[r.role];
    r.state = State::draining;
    std::erase_if(routable_[r.role], [&](std::uint32_t e) { return slots_[e].replica == replica; });
    if (config_.leaves_when_draining) leave_discovery(r, Seconds{0.0});
    end_if_empty(replica);
}

void Fleet::end_if_empty(std::uint32_t replica) {
    Replica& r = replicas_[replica];
    if (r.state != State::draining) return;
    for (const std::uint32_t engine : r.engines) {
        if (slots_[engine].engine.has_work() || slots_[engine].engine.in_pass()) return;
    }
    if (!config_.leaves_when_draining) leave_discovery(r, Seconds{0.0});
    end(replica);
}

void Fleet::end(std::uint32_t replica) {
    Replica& r = replicas_[replica];
    r.state = State::gone;
    for (const std::uint32_t engine : r.engines) slots_[engine].alive = false;
    book_.gpu_time(gpus_of(r.role), now_ - r.since);
}

void Fleet::crash(std::uint32_t replica) {
    const Role role = replicas_[replica].role;
    const State before = replicas_[replica].state;
    if (before == State::gone) return;
    if (before == State::serving) {
        --serving_[role];
        std::erase_if(routable_[role], [&](std::uint32_t e) { return slots_[e].replica == replica; });
    }
    const bool listed =
        before == State::serving || (before == State::draining && !config_.leaves_when_draining);
    if (listed) leave_discovery(replicas_[replica], config_.crash_noticed);
    end(replica);
    std::vector<Request> orphans;
    for (const std::uint32_t engine : replicas_[replica].engines) {
        for (Request& r : slots_[engine].engine.take_all()) orphans.push_back(std::move(r));
    }
    fill(role);
    counts_changed(role);
    for (Request& r : orphans) route(std::move(r), entry_role());
}

void Fleet::set_target(Role role, std::int64_t target) {
    DYNAPLAN_ASSERT(target >= 0);
    book_.target({now_, role, Replicas{target_[role]}, Replicas{target}});
    target_[role] = target;
    fill(role);
    counts_changed(role);
}

// Brings the number of starting and serving replicas to the target: adds new ones, or takes away the newest,
// those that do not serve yet first.
void Fleet::fill(Role role) {
    std::int64_t have = 0;
    for (const Replica& r : replicas_) {
        have += r.role == role && (r.state == State::starting || r.state == State::serving);
    }
    for (; have < target_[role]; ++have) start_replica(role);
    for (const State state : {State::starting, State::serving}) {
        for (auto i = static_cast<std::uint32_t>(replicas_.size()); i-- > 0 && have > target_[role];) {
            if (replicas_[i].role != role || replicas_[i].state != state) continue;
            --have;
            if (state == State::starting) {
                end(i);
            } else {
                drain(i);
            }
        }
    }
}

void Fleet::leave_discovery(const Replica& r, Seconds delay) {
    for (const std::uint32_t engine : r.engines) {
        EngineLeft left{r.role, {r.worker_id, slots_[engine].dp_rank}};
        if (delay.count() > 0.0) {
            agenda_.put(now_ + delay, Kind::deliver, held_back_.put({now_ + delay, std::move(left)}));
        } else {
            emit(std::move(left));
        }
    }
}

void Fleet::counts_changed(Role role) {
    book_.count({now_, role, Replicas{target_[role]}, Replicas{serving_[role]}});
    Gpus wanted{};
    for (const Role r : all_roles) {
        if (has_role(config_.mode, r)) wanted = wanted + Replicas{target_[r]} * gpus_of(r);
    }
    book_.gpus_wanted(wanted);
    read_inventory(role);
    acknowledge_if_ready();
}

void Fleet::read_inventory(Role role) {
    emit(InventoryRead{role, Replicas{serving_[role]}, Replicas{target_[role]},
                       serving_[role] != target_[role]});
}

void Fleet::acknowledge_if_ready() {
    if (!open_ || config_.acknowledge.when != Acknowledge::When::when_ready) return;
    if (!(serving_ == target_)) return;
    emit(DecisionOutcome{*open_, OutcomeKind::acknowledged});
    open_.reset();
}

void Fleet::on_fault(const Fault& fault) {
    const bool begins = now_ < config_.start + fault.until;
    for (std::uint32_t i = 0; i < replicas_.size(); ++i) {
        if (replicas_[i].role != fault.role || replicas_[i].number != fault.replica) continue;
        if (fault.kind == Fault::Kind::crash) {
            if (begins) crash(i);
        } else if (!begins) {
            for (const std::uint32_t engine : replicas_[i].engines) kick(engine);
        }
        return;
    }
}

bool Fleet::faulty(const Replica& r, Fault::Kind kind) const {
    return std::any_of(config_.faults.begin(), config_.faults.end(), [&](const Fault& f) {
        return f.kind == kind && f.role == r.role && f.replica == r.number &&
               now_ >= config_.start + f.from && now_ < config_.start + f.until;
    });
}

double Fleet::slowness(const Replica& r) const {
    double factor = 1.0;
    for (const Fault& f : config_.faults) {
        const bool active = now_ >= config_.start + f.from && now_ < config_.start + f.until;
        if (f.kind == Fault::Kind::slow && f.role == r.role && f.replica == r.number && active)
            factor *= f.factor;
    }
    return factor;
}

}  // namespace dynaplan::sim
