#include "runtime/decision_json.hpp"

#include <chrono>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dynaplan::runtime {

std::string utc_text(std::int64_t unix_ms) {
    using namespace std::chrono;
    const sys_time<milliseconds> at{milliseconds{unix_ms}};
    const auto day = floor<days>(at);
    const year_month_day date{day};
    const hh_mm_ss time{at - day};
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       time.hours().count(), time.minutes().count(), time.seconds().count(),
                       time.subseconds().count());
}

std::string decision_json(const decision::DecisionRecord& record) {
    using nlohmann::ordered_json;
    const auto count = [](const std::optional<Replicas>& n) {
        return n ? ordered_json(n->count()) : ordered_json(nullptr);
    };
    ordered_json out;
    out["decision_id"] = record.decision_id;
    out["state"] = to_string(record.state);
    out["prefill"] = count(record.prefill);
    out["decode"] = count(record.decode);
    out["reason"] = record.reason ? ordered_json(to_string(*record.reason)) : ordered_json(nullptr);
    out["published_at"] =
        record.published_wall_ms ? ordered_json(utc_text(*record.published_wall_ms)) : ordered_json(nullptr);
    out["timeout_s"] = record.timeout.count();
    ordered_json why = ordered_json::parse(record.why_json, nullptr, false);
    out["why"] = why.is_discarded() ? ordered_json(nullptr) : std::move(why);
    return out.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace dynaplan::runtime
