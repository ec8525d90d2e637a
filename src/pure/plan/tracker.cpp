#include "plan/tracker.hpp"

#include <algorithm>

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

Tracker::Entry& Tracker::entry_of(Role role, const EngineKey& key) {
    RoleEngines& r = roles_[role];
    const auto [place, fresh] = r.by_key.try_emplace(key);
    if (fresh) {
        if (r.free.empty()) {
            place->second.index = static_cast<EngineIndex>(r.next_index++);
        } else {
            place->second.index = r.free.back();
            r.free.pop_back();
        }
        place->second.worker = intern(key.worker_id);
    }
    return place->second;
}

void Tracker::join(Role role, const EngineKey& key, const Capabilities& capabilities) {
    Entry& e = entry_of(role, key);
    e.capabilities = capabilities;
    if (e.position != not_reported) roles_[role].reported[e.position].capabilities = capabilities;
}

std::optional<EngineIndex> Tracker::leave(Role role, const EngineKey& key) {
    RoleEngines& r = roles_[role];
    const auto place = r.by_key.find(key);
    if (place == r.by_key.end()) return std::nullopt;
    const Entry gone = place->second;
    r.by_key.erase(place);
    r.free.push_back(gone.index);
    if (gone.position != not_reported) {
        r.reported.erase(r.reported.begin() + gone.position);
        r.keys.erase(r.keys.begin() + gone.position);
        for (auto& [other, e] : r.by_key) {
            if (e.position != not_reported && e.position > gone.position) --e.position;
        }
    }
    return gone.index;
}

Tracker::Report Tracker::observe(Role role, const Fpm& fpm, TimePoint now) {
    RoleEngines& r = roles_[role];
    const auto place = r.by_key.find(KeyView{fpm.worker_id, fpm.dp_rank});
    Entry& entry =
        place != r.by_key.end() ? place->second : entry_of(role, EngineKey{fpm.worker_id, fpm.dp_rank});
    if (entry.position == not_reported) {
        entry.position = static_cast<std::uint32_t>(r.reported.size());
        EngineObservation& e = r.reported.emplace_back();
        e.engine = entry.index;
        e.worker = entry.worker;
        e.dp_rank = fpm.dp_rank;
        e.capabilities = entry.capabilities;
        e.advanced_at = now;
        e.pass.counter_id = -1;
        r.keys.push_back(EngineKey{fpm.worker_id, fpm.dp_rank});
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
        const RoleEngines& r = roles_[role];
        for (std::size_t i = r.reported.size(); i-- > 0;) {
            if (now - r.reported[i].heard_at < forget_after) continue;
            const EngineKey key = r.keys[i];
            if (const auto index = leave(role, key)) gone(role, *index);
        }
    }
}

EngineKey Tracker::key_of(Role role, std::size_t position) const { return roles_[role].keys[position]; }

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
    const std::pair<const EngineKey, Entry>* lowest = nullptr;
    for (const auto& candidate : roles_[role].by_key) {
        if (candidate.second.capabilities == Capabilities{}) continue;
        const EngineKey& key = candidate.first;
        if (lowest == nullptr || lower_id(key.worker_id, lowest->first.worker_id) ||
            (key.worker_id == lowest->first.worker_id && key.dp_rank < lowest->first.dp_rank)) {
            lowest = &candidate;
        }
    }
    return lowest == nullptr ? Capabilities{} : lowest->second.capabilities;
}

void Tracker::sort_by_index(std::vector<std::pair<EngineKey, Entry>>& entries) {
    std::sort(entries.begin(), entries.end(),
              [](const auto& a, const auto& b) { return a.second.index < b.second.index; });
}

}  // namespace dynaplan::plan
