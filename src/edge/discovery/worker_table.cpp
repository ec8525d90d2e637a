#include "discovery/worker_table.hpp"

namespace dynaplan::discovery {

namespace {

bool has_rank(const Worker& worker, std::int64_t rank) {
    return rank >= worker.rank_first && rank - worker.rank_first < worker.rank_count;
}

}  // namespace

bool WorkerTable::set(std::string_view worker_id, const Worker& now) {
    const auto place = table_.find(worker_id);
    const std::optional<Worker> before =
        place == table_.end() ? std::nullopt : std::optional<Worker>{place->second};
    if (before == now) return true;
    const std::int64_t others = engines_.prefill + engines_.decode - (before ? before->rank_count : 0);
    if (now.rank_count > engines_most - others) return false;
    const bool same_role = before && before->role == now.role;
    if (before) {
        count(*before, -1);
        for (std::int64_t i = 0; i < before->rank_count; ++i) {
            const std::int64_t rank = before->rank_first + i;
            if (!same_role || !has_rank(now, rank)) leave(worker_id, before->role, rank);
        }
    }
    count(now, 1);
    table_.insert_or_assign(std::string{worker_id}, now);
    const bool same_engines = same_role && before->capabilities == now.capabilities;
    for (std::int64_t i = 0; i < now.rank_count; ++i) {
        const std::int64_t rank = now.rank_first + i;
        if (!same_engines || !has_rank(*before, rank)) join(worker_id, now, rank);
    }
    return true;
}

void WorkerTable::erase(std::string_view worker_id) {
    const auto place = table_.find(worker_id);
    if (place == table_.end()) return;
    const Worker gone = place->second;
    count(gone, -1);
    table_.erase(place);
    for (std::int64_t i = 0; i < gone.rank_count; ++i) leave(worker_id, gone.role, gone.rank_first + i);
}

std::optional<Role> WorkerTable::role_of(std::string_view worker_id) const {
    const auto place = table_.find(worker_id);
    return place == table_.end() ? std::nullopt : std::optional{place->second.role};
}

const Worker* WorkerTable::find(std::string_view worker_id) const {
    const auto place = table_.find(worker_id);
    return place == table_.end() ? nullptr : &place->second;
}

void WorkerTable::count(const Worker& worker, std::int64_t sign) {
    workers_[worker.role] += sign;
    engines_[worker.role] += sign * worker.rank_count;
}

void WorkerTable::join(std::string_view worker_id, const Worker& worker, std::int64_t rank) {
    Event event{TimePoint{}, EngineJoined{worker.role, {std::string{worker_id}, rank}, worker.capabilities}};
    sink_.take(event);
}

void WorkerTable::leave(std::string_view worker_id, Role role, std::int64_t rank) {
    Event event{TimePoint{}, EngineLeft{role, {std::string{worker_id}, rank}}};
    sink_.take(event);
}

}  // namespace dynaplan::discovery
