#include "plan/tracker.hpp"

#include <algorithm>
#include <utility>

namespace dynaplan::plan {

namespace {

// Instance ids are decimal texts of any length: shorter is smaller.
bool lower_id(std::string_view a, std::string_view b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
}

bool makes_progress(const ForwardPass& pass) {
    return pass.wall_time > 0.0 || pass.scheduled.num_prefill_requests > 0 ||
           pass.scheduled.num_decode_requests > 0;
}

}  // namespace

WorkerIndex Tracker::intern(const std::string& worker_id) {
    const auto next = static_cast<std::uint32_t>(worker_names_.size());
    const auto [place, fresh] = workers_.try_emplace(worker_id, next);
    if (fresh) worker_names_.push_back(worker_id);
    return static_cast<WorkerIndex>(place->second);
}

std::uint32_t Tracker::index_of(Role role, const std::string& worker_id, std::int64_t dp_rank) {
    RoleEngines& r = roles_[role];
    if (const auto index = find(r, worker_id, dp_rank)) return *index;
    auto index = static_cast<std::uint32_t>(r.entries.size());
    if (r.free.empty()) {
        r.entries.emplace_back();
    } else {
        index = number_of(r.free.back());
        r.free.pop_back();
    }
    Entry& e = r.entries[index];
    e.known = true;
    e.key = EngineKey{worker_id, dp_rank};
    e.worker = intern(worker_id);
    r.table.insert(hash_of(worker_id, dp_rank), index);
    return index;
}

void Tracker::join(Role role, const EngineKey& key, const Capabilities& capabilities) {
    RoleEngines& r = roles_[role];
    Entry& e = r.entries[index_of(role, key.worker_id, key.dp_rank)];
    e.capabilities = capabilities;
    if (e.position != not_reported) r.reported[e.position].capabilities = capabilities;
}

std::optional<EngineIndex> Tracker::leave(Role role, const EngineKey& key) {
    RoleEngines& r = roles_[role];
    const auto index = find(r, key.worker_id, key.dp_rank);
    if (!index) return std::nullopt;
    r.table.erase(hash_of(key.worker_id, key.dp_rank), *index);
    const Entry gone = std::exchange(r.entries[*index], Entry{});
    const std::uint32_t position = gone.position;
    const auto engine = static_cast<EngineIndex>(*index);
    r.free.push_back(engine);
    if (position != not_reported) {
        if (--r.ranks[number_of(gone.worker)] == 0) --r.workers;
        r.reported.erase(r.reported.begin() + position);
        for (Entry& e : r.entries) {
            if (e.position != not_reported && e.position > position) --e.position;
        }
    }
    return engine;
}

void Tracker::count_rank(RoleEngines& r, WorkerIndex worker) {
    const std::size_t i = number_of(worker);
    if (i >= r.ranks.size()) r.ranks.resize(i + 1);
    if (r.ranks[i]++ == 0) ++r.workers;
}

Tracker::Report Tracker::observe(Role role, const Fpm& fpm, TimePoint now) {
    RoleEngines& r = roles_[role];
    const std::uint32_t index = index_of(role, fpm.worker_id, fpm.dp_rank);
    Entry& entry = r.entries[index];
    if (entry.position == not_reported) {
        entry.position = static_cast<std::uint32_t>(r.reported.size());
        EngineObservation& e = r.reported.emplace_back();
        e.engine = static_cast<EngineIndex>(index);
        e.worker = entry.worker;
        e.dp_rank = fpm.dp_rank;
        e.capabilities = entry.capabilities;
        e.advanced_at = now;
        e.pass.counter_id = -1;
        count_rank(r, entry.worker);
    }
    EngineObservation& e = r.reported[entry.position];
    const bool repeated = e.pass.counter_id == fpm.pass.counter_id;
    e.heard_at = now;
    if (!repeated && makes_progress(fpm.pass)) e.advanced_at = now;
    e.pass = fpm.pass;
    return {&e, repeated ? Freshness::repeated : Freshness::fresh};
}

void Tracker::forget_silent(TimePoint now, const std::function<void(Role, EngineIndex)>& gone) {
    for (const Role role : all_roles) {
        RoleEngines& r = roles_[role];
        if (now < r.forget_from) continue;
        TimePoint oldest = now;  // of those that stay; times of hearing only grow
        for (std::size_t i = r.reported.size(); i-- > 0;) {
            if (now - r.reported[i].heard_at < forget_after) {
                oldest = std::min(oldest, r.reported[i].heard_at);
                continue;
            }
            const EngineKey key = key_of(role, i);
            if (const auto index = leave(role, key)) gone(role, *index);
        }
        r.forget_from = oldest + forget_after;
    }
}

EngineKey Tracker::key_of(Role role, std::size_t position) const {
    const RoleEngines& r = roles_[role];
    return r.entries[number_of(r.reported[position].engine)].key;
}

std::int64_t Tracker::workers_heard(Role role, TimePoint now, Seconds age) const {
    std::vector<bool> seen(worker_names_.size());
    std::int64_t n = 0;
    for (const EngineObservation& e : roles_[role].reported) {
        const std::size_t worker = number_of(e.worker);
        if (now - e.heard_at >= age || seen[worker]) continue;
        seen[worker] = true;
        ++n;
    }
    return n;
}

Capabilities Tracker::lowest_card(Role role) const {
    const Entry* lowest = nullptr;
    for (const Entry& e : roles_[role].entries) {
        if (!e.known || e.capabilities == Capabilities{}) continue;
        if (lowest == nullptr || lower_id(e.key.worker_id, lowest->key.worker_id) ||
            (e.key.worker_id == lowest->key.worker_id && e.key.dp_rank < lowest->key.dp_rank)) {
            lowest = &e;
        }
    }
    return lowest == nullptr ? Capabilities{} : lowest->capabilities;
}

bool Tracker::restore_table(RoleEngines& r) {
    r.table.clear();
    r.ranks.clear();
    r.workers = 0;
    r.forget_from = TimePoint{};
    std::size_t positions = 0;
    for (std::uint32_t i = 0; i < r.entries.size(); ++i) {
        const Entry& e = r.entries[i];
        if (!e.known) continue;
        r.table.insert(hash_of(e.key.worker_id, e.key.dp_rank), i);
        if (e.position == not_reported) continue;
        if (e.position >= r.reported.size() || number_of(r.reported[e.position].engine) != i) return false;
        count_rank(r, e.worker);
        ++positions;
    }
    return positions == r.reported.size() && r.table.size() + r.free.size() == r.entries.size();
}

}  // namespace dynaplan::plan
