#include "wire/json_effect.hpp"

#include <variant>

#include "wire/json_units.hpp"
#include "wire/json_writer.hpp"

namespace dynaplan::wire {

namespace {

std::optional<std::string_view> name_of(const std::optional<Reason>& r) {
    return r ? std::optional{to_string(*r)} : std::nullopt;
}

void write_role_why(JsonWriter& w, const RoleWhy& y) {
    w.begin_object().member("ready", y.ready.count()).member_if("expected", count_of(y.expected));
    w.member("engines", y.engines).member("engines_left_out", y.engines_left_out);
    w.member_if("estimate_max_ms", count_of(y.estimate_max))
        .member_if("estimate_min_ms", count_of(y.estimate_min));
    w.member_if("target_ms", count_of(y.target)).member_if("threshold_ms", count_of(y.threshold));
    w.member_if("best_reachable_ms", count_of(y.best_reachable));
    w.member_if("load_reason", name_of(y.load_reason));
    w.member_if("throughput_reason", name_of(y.throughput_reason));
    w.member_if("load_desired", count_of(y.load_desired));
    w.member_if("throughput_desired", count_of(y.throughput_desired));
    w.member_if("demand_rps", y.demand_rps).member_if("engine_rps", y.engine_rps);
    if (!y.clamps.empty()) {
        w.key("clamps").begin_array();
        for (const ClampStage s : y.clamps) w.value(to_string(s));
        w.end_array();
    }
    w.end_object();
}

void write_why(JsonWriter& w, const Why& why) {
    w.begin_object();
    for (const Role role : all_roles) {
        if (!why.role[role]) continue;
        w.key(to_string(role));
        write_role_why(w, *why.role[role]);
    }
    w.end_object();
}

void write_body(JsonWriter& w, const ScaleTo& e, const ProposalFate& fate) {
    w.member("effect", "scale_to");
    if (fate.decision_id) {
        w.member("decision_id", *fate.decision_id);
    } else {
        w.member("proposal", e.proposal);
        if (fate.refused) w.member("refused", to_string(*fate.refused));
    }
    w.member_or_null("prefill", count_of(e.prefill)).member_or_null("decode", count_of(e.decode));
    w.member("reason", to_string(e.reason));
    if (e.cancels) w.member("cancels", true);
    w.key("why");
    write_why(w, e.why);
}

void write_body(JsonWriter& w, const TrafficWanted& e, const ProposalFate&) {
    w.member("effect", "traffic_wanted").member("window_s", e.window.count());
}

void write_reasons(JsonWriter& w, const Diagnostics& d) {
    w.member_or_null("load_decision_reason", name_of(d.load_decision_reason));
    w.member_or_null("throughput_decision_reason", name_of(d.throughput_decision_reason));
    w.member_or_null("load_decision_reason_prefill", name_of(d.load_decision_reason_of.prefill));
    w.member_or_null("load_decision_reason_decode", name_of(d.load_decision_reason_of.decode));
    w.member_or_null("throughput_decision_reason_prefill", name_of(d.throughput_decision_reason_of.prefill));
    w.member_or_null("throughput_decision_reason_decode", name_of(d.throughput_decision_reason_of.decode));
}

void write_holds(JsonWriter& w, const std::vector<Hold>& holds) {
    w.key("holds").begin_array();
    for (const Hold& h : holds) {
        w.begin_object().member("role", to_string(h.role)).member("reason", to_string(h.reason));
        w.member("since", seconds_of(h.since));
        w.member_or_null("deadline", h.deadline ? std::optional{seconds_of(*h.deadline)} : std::nullopt);
        w.end_object();
    }
    w.end_array();
}

void write_body(JsonWriter& w, const DiagnosticsReport& e, const ProposalFate&) {
    const Diagnostics& d = e.diagnostics;
    w.member("effect", "diagnostics");
    w.member_or_null("estimated_ttft_ms", count_of(d.estimated_ttft));
    w.member_or_null("estimated_itl_ms", count_of(d.estimated_itl));
    w.member_or_null("predicted_num_req", d.predicted_num_req);
    w.member_or_null("predicted_isl", d.predicted_isl).member_or_null("predicted_osl", d.predicted_osl);
    w.member_or_null("predicted_kv_hit_rate", d.predicted_kv_hit_rate);
    w.member_or_null("engine_rps_prefill", d.engine_rps.prefill);
    w.member_or_null("engine_rps_decode", d.engine_rps.decode);
    w.member("throughput_lower_bound_prefill", d.throughput_lower_bound.prefill.count());
    w.member("throughput_lower_bound_decode", d.throughput_lower_bound.decode.count());
    write_reasons(w, d);
    w.member_or_null("ready_prefill", count_of(e.ready.prefill));
    w.member_or_null("ready_decode", count_of(e.ready.decode));
    w.member_or_null("expected_prefill", count_of(e.expected.prefill));
    w.member_or_null("expected_decode", count_of(e.expected.decode));
    w.member_or_null("recommended_prefill", count_of(e.recommended.prefill));
    w.member_or_null("recommended_decode", count_of(e.recommended.decode));
    w.member_or_null("best_reachable_ttft_ms", count_of(e.best_reachable_ttft));
    w.member_or_null("best_reachable_itl_ms", count_of(e.best_reachable_itl));
    write_holds(w, e.holds);
    w.member("ran_load", e.ran_load).member("ran_throughput", e.ran_throughput);
    w.member("fpm_observed", e.fpm_observed).member("fpm_repeated", e.fpm_repeated);
    w.member("fpm_outliers", e.fpm_outliers).member("fpm_ignored", e.fpm_ignored);
    w.member("engines_stuck", e.engines_stuck).member("engines_silent", e.engines_silent);
}

void write_body(JsonWriter& w, const WakeAt& e, const ProposalFate&) {
    w.member("effect", "wake_at").member("at", seconds_of(e.at));
}

void write_body(JsonWriter& w, const ConfigRefused& e, const ProposalFate&) {
    w.member("effect", "error").member("message", e.message);
}

}  // namespace

void append_effect_json(std::string& out, const Effect& effect) { append_effect_json(out, effect, {}); }

void append_effect_json(std::string& out, const Effect& effect, const ProposalFate& fate) {
    JsonWriter w{out};
    w.begin_object().member("t", seconds_of(effect.at));
    std::visit([&](const auto& body) { write_body(w, body, fate); }, effect.body);
    w.end_object();
}

void append_done(std::string& out, TimePoint t) {
    JsonWriter{out}.begin_object().member("t", seconds_of(t)).member("effect", "done").end_object();
}

void append_error(std::string& out, std::optional<TimePoint> t, std::string_view message) {
    JsonWriter w{out};
    w.begin_object().member_or_null("t", t ? std::optional{seconds_of(*t)} : std::nullopt);
    w.member("effect", "error").member("message", message).end_object();
}

void append_why_json(std::string& out, const Why& why) {
    JsonWriter w{out};
    write_why(w, why);
}

}  // namespace dynaplan::wire
