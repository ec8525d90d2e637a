#include "runtime/state_json.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

#include "runtime/decision_json.hpp"

namespace dynaplan::runtime {

using nlohmann::ordered_json;

namespace {

ordered_json count(const std::optional<Replicas>& n) {
    return n ? ordered_json(n->count()) : ordered_json(nullptr);
}

ordered_json time(TimePoint at) {
    constexpr double ms_per_second = 1000.0;
    return utc_text(static_cast<std::int64_t>(std::floor(seconds_of(at) * ms_per_second)));
}

ordered_json inventory(const Service& service) {
    const plan::Planner& planner = service.planner();
    ordered_json out = ordered_json::object();
    for (const Role role : all_roles) {
        if (!has_role(planner.config().mode, role)) continue;
        ordered_json& one = out[std::string{to_string(role)}];
        one["ready"] = planner.ready_at(role, service.now()).count();
        const plan::Inventory& told = planner.inventory(role);
        one["expected"] = count(told.expected ? told.expected : planner.expected(role));
        one["rolling"] = told.rolling;
    }
    return out;
}

ordered_json engines(const Service& service) {
    const plan::Tracker& tracker = service.planner().engines();
    ordered_json out = ordered_json::array();
    for (const Role role : all_roles) {
        for (std::size_t i = 0; i < tracker.reported(role).size(); ++i) {
            const EngineKey key = tracker.key_of(role, i);
            const EngineObservation& seen = tracker.reported(role)[i];
            out.push_back({{"worker_id", key.worker_id},
                           {"dp_rank", key.dp_rank},
                           {"role", to_string(role)},
                           {"silent_s", std::max(0.0, (service.now() - seen.heard_at).count())}});
        }
    }
    return out;
}

ordered_json holds(const Service& service) {
    ordered_json out = ordered_json::array();
    const auto add = [&out](std::string_view role, std::string_view reason, const ordered_json& since,
                            const ordered_json& deadline) {
        out.push_back({{"role", role}, {"reason", reason}, {"since", since}, {"deadline", deadline}});
    };
    for (const Hold& hold : service.holds()) {
        add(to_string(hold.role), to_string(hold.reason), time(hold.since),
            hold.deadline ? time(*hold.deadline) : ordered_json(nullptr));
    }
    // Before the store has been read the core has not heard of it: that hold ends when it can be.
    for (const Role role : all_roles) {
        if (!has_role(service.planner().config().mode, role)) continue;
        if (const auto retry = service.store_retry())
            add(to_string(role), to_string(Reason::store_unavailable), nullptr, time(*retry));
    }
    return out;
}

ordered_json discovery(const Service& service, const DiscoveryView& view) {
    ordered_json workers = ordered_json::object();
    for (const Role role : all_roles) {
        if (has_role(service.planner().config().mode, role))
            workers[std::string{to_string(role)}] = view.workers[role];
    }
    return {{"backend", view.backend}, {"state", view.stale ? "stale" : "ok"},
            {"reason", view.reason},   {"workers", workers},
            {"refused", view.refused}, {"remarks", view.remarks}};
}

}  // namespace

std::string missing_json(const std::vector<Missing>& missing) {
    ordered_json names = ordered_json::array();
    for (const Missing m : missing) names.push_back(to_string(m));
    return ordered_json{{"missing", names}}.dump();
}

std::string state_json(const Service& service, const Surroundings& around, const port::BusCounts& bus,
                       const port::Journal& journal) {
    ordered_json out;
    const std::vector<Missing> missing = service.missing();
    out["ready"] = missing.empty();
    out["missing"] = ordered_json::array();
    for (const Missing m : missing) out["missing"].push_back(to_string(m));
    out["leader"] = service.leading();
    out["listen"] = around.listen;
    out["inventory"] = inventory(service);
    out["engines"] = engines(service);
    out["holds"] = holds(service);
    const decision::DecisionRecord* current = service.coordinator().current();
    out["decision"] = current ? ordered_json::parse(decision_json(*current)) : ordered_json(nullptr);
    out["bus"] = {{"transport", around.bus},  {"connected", bus.connected}, {"reason", bus.trouble},
                  {"received", bus.received}, {"decoded", bus.decoded},     {"gaps", bus.gaps},
                  {"refused", bus.refused},   {"errors", bus.errors}};
    if (around.discovery) out["discovery"] = discovery(service, around.discovery());
    const std::string store_reason = around.store_reason ? around.store_reason() : "";
    const bool usable = service.coordinator().restored() && store_reason.empty();
    out["store"] = {
        {"kind", around.store}, {"state", usable ? "ok" : "unavailable"}, {"reason", store_reason}};
    const port::JournalState kept = journal.state();
    out["journal"] = {{"state", kept.degraded ? "degraded" : "ok"},
                      {"reason", kept.reason},
                      {"dropped", journal.dropped()}};
    return out.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace dynaplan::runtime
