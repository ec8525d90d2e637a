#include "replay/timeline.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

namespace dynaplan::replay {

namespace {

constexpr double ms_per_second = 1000.0;

bool earlier(const Timeline::Item& a, const Timeline::Item& b) { return a.at < b.at; }

}  // namespace

Timeline::Timeline(Recording& recording, const RoleTable& table, Mode mode) : recording_{recording} {
    std::vector<std::optional<Role>> roles;
    for (const RecordedEngine& engine : recording.engines()) {
        roles.push_back(table.role_of(engine.component));
        roles_.push_back(roles.back().value_or(Role::decode));
        if (!roles.back()) {
            recording_.refusals().add("unknown_role: component '" + engine.component + "'", engine.reports);
        } else if (!has_role(mode, *roles.back())) {
            recording_.refusals().add("other_role: " + std::string{to_string(*roles.back())} + " in mode " +
                                          std::string{to_string(mode)},
                                      engine.reports);
        }
    }
    collect(roles, mode);
    order_within_files();
    if (!std::is_sorted(items_.begin(), items_.end(), earlier))
        std::stable_sort(items_.begin(), items_.end(), earlier);
    for (const Item& item : items_) passes_ += item.is_pass ? 1 : 0;
}

// Reports first, since time counts from the first of them.
void Timeline::collect(const std::vector<std::optional<Role>>& roles, Mode mode) {
    const auto used = [&](const RecordedPass& p) {
        return roles[p.engine] && has_role(mode, *roles[p.engine]);
    };
    std::vector<std::int64_t> times;
    for (const RecordedPass& p : recording_.passes()) {
        if (used(p)) times.push_back(p.observed_ms);
    }
    std::sort(times.begin(), times.end());
    // The stretch with the most reports.
    const auto gap_ms = static_cast<std::int64_t>(gap_max.count() * ms_per_second);
    std::size_t best_begin = 0;
    std::size_t best_end = 0;
    for (std::size_t begin = 0, i = 1; i <= times.size(); ++i) {
        if (i < times.size() && times[i] - times[i - 1] <= gap_ms) continue;
        if (i - begin > best_end - best_begin) {
            best_begin = begin;
            best_end = i;
        }
        begin = i;
    }
    if (best_end == 0) return;
    origin_ms_ = times[best_begin];
    const std::int64_t last_ms = times[best_end - 1];
    const auto seconds = [&](std::int64_t ms) {
        return static_cast<double>(ms - origin_ms_) / ms_per_second;
    };
    const double latest_line = seconds(last_ms) + gap_max.count();

    std::uint64_t jumped = 0;
    for (std::size_t f = 0; f < recording_.files().size(); ++f) {
        const Recording::File& file = recording_.files()[f];
        for (const Recording::Entry& entry : file.entries) {
            Item item{0.0, entry.index, static_cast<std::uint32_t>(f), entry.is_pass};
            if (entry.is_pass) {
                const RecordedPass& p = recording_.passes()[entry.index];
                if (!used(p)) continue;
                if (p.observed_ms < origin_ms_ || p.observed_ms > last_ms) {
                    ++jumped;
                    continue;
                }
                item.at = seconds(p.observed_ms);
            } else {
                const RecordedLine& line = recording_.lines()[entry.index];
                item.at = seconds_of(line.event.at);
                if (item.at < -gap_max.count() || item.at > latest_line) {
                    recording_.refusals().add("time_jump", file.name, line.line,
                                              "t is more than a week away from the reports");
                    continue;
                }
            }
            items_.push_back(item);
        }
    }
    recording_.refusals().add("time_jump", jumped);
}

void Timeline::order_within_files() {
    std::size_t file = SIZE_MAX;
    double latest = 0.0;
    for (Item& item : items_) {
        if (item.file != file) {
            file = item.file;
            latest = item.at;
        }
        latest = std::max(latest, item.at);
        const double earliest = latest - disorder_max.count();
        if (item.at < earliest) {
            item.at = earliest;
            ++late_;
        }
    }
}

Seconds Timeline::span() const {
    return items_.empty() ? Seconds{0.0} : Seconds{items_.back().at - items_.front().at};
}

void Timeline::event(std::size_t i, Event& out) const {
    const Item& item = items_[i];
    if (!item.is_pass) {
        out = recording_.lines()[item.index].event;
        out.at = at_seconds(item.at);
        return;
    }
    auto* arrived = std::get_if<FpmArrived>(&out.body);
    if (arrived == nullptr) arrived = &out.body.emplace<FpmArrived>();
    const RecordedPass& p = recording_.passes()[item.index];
    const RecordedEngine& engine = recording_.engines()[p.engine];
    out.at = at_seconds(item.at);
    arrived->role = roles_[p.engine];
    arrived->fpm.version = 1;
    arrived->fpm.worker_id.assign(engine.worker_id);
    arrived->fpm.dp_rank = engine.dp_rank;
    arrived->fpm.pass = p.pass;
}

}  // namespace dynaplan::replay
