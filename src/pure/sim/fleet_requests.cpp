// The fleet's requests: from arrival to the last token, and the reports of the engines that serve them.
#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/fleet.hpp"

namespace dynaplan::sim {

Role Fleet::entry_role() const { return has_prefill(config_.mode) ? Role::prefill : Role::decode; }

void Fleet::schedule_arrival() {
    next_arrival_ = arrivals_.next();
    if (next_arrival_) agenda_.put(next_arrival_->at, Kind::arrival);
}

void Fleet::on_arrival() {
    Request r;
    r.id = next_request_++;
    r.arrived = next_arrival_->at;
    // What no engine of the fleet can hold is cut, as a frontend with a context limit would refuse or cut it.
    std::int64_t most = next_arrival_->isl + next_arrival_->osl;
    for (const Role role : all_roles) {
        if (!has_role(config_.mode, role)) continue;
        const EngineConfig& e = config_.role[role].engine;
        most = std::min({most, e.context_length, e.max_kv_tokens});
    }
    r.isl = std::min(next_arrival_->isl, most - 1);
    r.osl = std::min(next_arrival_->osl, most - r.isl);
    r.cached = std::min(static_cast<std::int64_t>(config_.traffic.kv_hit_rate * static_cast<double>(r.isl)),
                        r.isl - 1);
    schedule_arrival();
    log_.arrived(r);
    book_.arrived(r.arrived);
    if (inside_ >= config_.queued_most) {
        book_.refused();
        return;
    }
    ++inside_;
    if (config_.mode == Mode::decode) {
        // Its prompt was done elsewhere, which also gave the first token.
        r.prefilling = false;
        r.computed = r.isl;
        r.generated = 1;
        r.first_token = r.arrived;
        r.last_token = r.arrived;
        if (r.osl < 2) {
            finish(r);
            return;
        }
    }
    route(std::move(r), entry_role());
}

void Fleet::route(Request r, Role role) {
    const std::vector<std::uint32_t>& engines = routable_[role];
    if (engines.empty()) {
        parked_[role].push_back(std::move(r));
        return;
    }
    // Of equals the next in turn, so that no engine is preferred for its place in the list.
    const std::size_t first = turn_[role]++;
    std::uint32_t chosen = engines[first % engines.size()];
    if (config_.routing == Routing::least_backlog) {
        for (std::size_t i = 1; i < engines.size(); ++i) {
            const std::uint32_t other = engines[(first + i) % engines.size()];
            if (slots_[other].engine.backlog() < slots_[chosen].engine.backlog()) chosen = other;
        }
    }
    slots_[chosen].engine.take(std::move(r));
    kick(chosen);
}

void Fleet::kick(std::uint32_t engine) {
    Slot& slot = slots_[engine];
    const Replica& replica = replicas_[slot.replica];
    if (!slot.alive || slot.engine.in_pass() || !slot.engine.has_work()) return;
    if (faulty(replica, Fault::Kind::stuck)) return;
    ++slot.epoch;
    agenda_.put(now_ + slot.engine.begin_pass(slowness(replica)), Kind::pass_end, engine);
}

void Fleet::on_pass_end(std::uint32_t engine) {
    if (!slots_[engine].alive) return;
    handed_over_.clear();
    finished_.clear();
    report(slots_[engine], slots_[engine].engine.end_pass(now_, handed_over_, finished_));
    for (Request& r : handed_over_) {
        if (config_.mode == Mode::prefill) {
            finish(r);
        } else {
            agenda_.put(now_ + config_.handover, Kind::handover, in_transfer_.put(std::move(r)));
        }
    }
    for (const Request& r : finished_) finish(r);
    kick(engine);
    if (!slots_[engine].engine.in_pass()) rest(engine);
}

void Fleet::rest(std::uint32_t engine) {
    agenda_.put(now_ + config_.heartbeat, Kind::heartbeat, engine, slots_[engine].epoch);
    end_if_empty(slots_[engine].replica);
}

void Fleet::on_heartbeat(std::uint32_t engine, std::uint32_t epoch) {
    Slot& slot = slots_[engine];
    if (!slot.alive || slot.engine.in_pass() || slot.epoch != epoch) return;
    report(slot, slot.engine.heartbeat());
    agenda_.put(now_ + config_.heartbeat, Kind::heartbeat, engine, epoch);
}

void Fleet::finish(const Request& r) {
    --inside_;
    log_.finished(r);
    book_.finished(r);
}

void Fleet::report(const Slot& slot, const ForwardPass& pass) {
    const Replica& replica = replicas_[slot.replica];
    ++sent_;
    const Channel& c = config_.channel;
    // The same number of draws for every report: a fault of one does not change the luck of the next.
    const bool lost = channel_.chance(c.lost);
    const bool doubled = channel_.chance(c.doubled);
    const bool late = channel_.chance(c.late);
    const Seconds delay = c.lateness * channel_.uniform();
    if (lost || faulty(replica, Fault::Kind::silent)) {
        ++lost_;
        return;
    }
    FpmArrived message{replica.role, Fpm{1, replica.worker_id, slot.dp_rank, pass}};
    if (doubled) agenda_.put(now_ + delay, Kind::deliver, held_back_.put({now_ + delay, message}));
    if (late) {
        agenda_.put(now_ + delay, Kind::deliver, held_back_.put({now_ + delay, std::move(message)}));
    } else {
        emit(std::move(message));
    }
}

}  // namespace dynaplan::sim
