#include "replay/recording.hpp"

#include <limits>
#include <utility>
#include <variant>

namespace dynaplan::replay {

void Recording::begin_file(std::string name) { files_.push_back({std::move(name), {}}); }

std::uint32_t Recording::engine_of(const wire::TraceRecord& record) {
    const auto is = [&](const RecordedEngine& e) {
        return e.dp_rank == record.fpm.dp_rank && e.worker_id == record.fpm.worker_id &&
               e.component == record.component;
    };
    if (last_engine_ < engines_.size() && is(engines_[last_engine_])) return last_engine_;
    const auto [place, fresh] =
        index_.try_emplace({record.component, record.fpm.worker_id, record.fpm.dp_rank},
                           static_cast<std::uint32_t>(engines_.size()));
    if (fresh) engines_.push_back({record.component, record.fpm.worker_id, record.fpm.dp_rank, 0});
    return last_engine_ = place->second;
}

void Recording::take(const wire::TraceRecord& record, std::uint64_t line) {
    if (record.observed_at_unix_ms < 0)
        return refuse("out_of_range", line, "observed_at_unix_ms is before 1970");
    if (passes_.size() >= std::numeric_limits<std::uint32_t>::max())
        return refuse("too_many_reports", line, "more than 2^32 reports");
    const std::uint32_t engine = engine_of(record);
    ++engines_[engine].reports;
    files_.back().entries.push_back({static_cast<std::uint32_t>(passes_.size()), true});
    passes_.push_back({record.observed_at_unix_ms, engine, record.fpm.pass});
}

void Recording::take_line(std::string_view text, std::uint64_t line) {
    const auto parsed = parser_.parse(text, event_);
    if (!parsed) return refuse("step_line", line, parsed.error().message);
    if (parsed->fpm_refused)
        return refuse("bad_fpm: " + std::string{to_string(*parsed->fpm_refused)}, line, text);
    if (std::holds_alternative<DecisionPublished>(event_.body) ||
        std::holds_alternative<DecisionRefused>(event_.body)) {
        return refuse("step_line", line, "the replay's own coordinator answers proposals");
    }
    has_traffic_ = has_traffic_ || std::holds_alternative<TrafficObserved>(event_.body);
    has_inventory_ = has_inventory_ || std::holds_alternative<InventoryRead>(event_.body);
    files_.back().entries.push_back({static_cast<std::uint32_t>(lines_.size()), false});
    lines_.push_back({event_, line});
}

void Recording::refuse(std::string_view cause, std::uint64_t line, std::string_view message) {
    refusals_.add(cause, files_.back().name, line, message);
}

}  // namespace dynaplan::replay
