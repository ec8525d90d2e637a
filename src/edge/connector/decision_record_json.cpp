#include "connector/decision_record_json.hpp"

#include <string_view>

namespace dynaplan::connector {

using nlohmann::json;
using port::DecisionRecord;

namespace {

std::optional<DecisionState> state_from(std::string_view name) {
    for (const DecisionState s :
         {DecisionState::published, DecisionState::acknowledged, DecisionState::failed,
          DecisionState::timed_out, DecisionState::superseded}) {
        if (to_string(s) == name) return s;
    }
    return std::nullopt;
}

}  // namespace

void write_record(wire::JsonWriter& w, const DecisionRecord& r) {
    w.begin_object().member("decision_id", r.decision_id).member("proposal", r.proposal);
    w.member_if("prefill", count_of(r.prefill)).member_if("decode", count_of(r.decode));
    if (r.reason) w.member("reason", to_string(*r.reason));
    w.member("state", to_string(r.state)).member_if("published_wall_ms", r.published_wall_ms);
    w.member("timeout_s", r.timeout.count()).member("forced", r.forced);
    if (!r.why_json.empty()) w.member("why", std::string_view{r.why_json});
    w.end_object();
}

std::string read_record(const json& object, DecisionRecord& r) {
    Members m{object};
    r.decision_id = m.needed("decision_id");
    r.proposal = m.number("proposal").value_or(0);
    r.prefill = m.replicas("prefill");
    r.decode = m.replicas("decode");
    r.reason = reason_from(m.text("reason"));  // one that this version does not know is left absent
    if (const auto state = state_from(m.text("state"))) {
        r.state = *state;
    } else {
        m.wrong("state");
    }
    r.published_wall_ms = m.number("published_wall_ms");
    r.timeout = Seconds{std::numeric_limits<double>::infinity()};  // null: none
    if (const json* timeout = m.find("timeout_s")) {
        if (!timeout->is_number()) m.wrong("timeout_s");
        if (timeout->is_number()) r.timeout = Seconds{timeout->get<double>()};
    }
    const json* forced = m.find("forced");
    if (forced != nullptr && !forced->is_boolean()) m.wrong("forced");
    r.forced = forced != nullptr && forced->is_boolean() && forced->get<bool>();
    r.why_json = m.text("why");
    return m.problem();
}

}  // namespace dynaplan::connector
