#include <type_traits>
#include <variant>

#include "wire/fpm_json.hpp"
#include "wire/json_event.hpp"
#include "wire/json_units.hpp"
#include "wire/json_writer.hpp"

namespace dynaplan::wire {

namespace {

void write_engine(JsonWriter& w, std::string_view event, Role role, const EngineKey& engine) {
    w.member("event", event).member("role", to_string(role));
    w.member("worker_id", engine.worker_id).member("dp_rank", engine.dp_rank);
}

void write_body(JsonWriter& w, const EngineJoined& e) {
    write_engine(w, "engine_joined", e.role, e.engine);
    const Capabilities& c = e.capabilities;
    w.key("capabilities").begin_object();
    w.member_if("num_gpu", count_of(c.num_gpu));
    w.member_if("max_num_batched_tokens", c.max_num_batched_tokens).member_if("max_num_seqs", c.max_num_seqs);
    w.member_if("context_length", c.context_length).member_if("max_kv_tokens", c.max_kv_tokens);
    w.end_object();
}

void write_body(JsonWriter& w, const EngineLeft& e) { write_engine(w, "engine_left", e.role, e.engine); }

void write_body(JsonWriter& w, const InventoryRead& e) {
    w.member("event", "inventory").member("role", to_string(e.role));
    w.member_or_null("ready", count_of(e.ready)).member_or_null("expected", count_of(e.expected));
    w.member("rolling", e.rolling);
}

void write_body(JsonWriter& w, const TrafficObserved& e) {
    w.member("event", "traffic").member("window_s", e.window.count());
    if (e.traffic.is_idle()) {
        w.member("idle", true);
    } else if (e.traffic.is_unknown()) {
        w.key("num_req").null();
    } else {
        const Traffic& t = e.traffic.value();
        w.member("num_req", t.num_req).member("isl", t.isl).member("osl", t.osl);
        w.member_or_null("ttft_ms", count_of(t.ttft)).member_or_null("itl_ms", count_of(t.itl));
        w.member_or_null("kv_hit_rate", t.kv_hit_rate);
    }
}

void write_body(JsonWriter& w, const TickDue&) { w.member("event", "tick"); }

void write_body(JsonWriter& w, const DecisionOutcome& e) {
    w.member("event", "outcome").member("decision_id", e.decision_id).member("outcome", to_string(e.outcome));
}

void write_body(JsonWriter& w, const DecisionPublished& e) {
    w.member("event", "published").member("proposal", e.proposal).member("decision_id", e.decision_id);
}

void write_body(JsonWriter& w, const DecisionRefused& e) {
    w.member("event", "refused").member("proposal", e.proposal).member("reason", to_string(e.reason));
}

void write_body(JsonWriter& w, const DecisionRestored& e) {
    w.member("event", "decision_restored").member("decision_id", e.decision_id);
    w.member_or_null("prefill", count_of(e.prefill)).member_or_null("decode", count_of(e.decode));
    w.member("state", to_string(e.state)).member("age_s", e.age.count());
}

void write_setting(JsonWriter& w, std::string& number, const FieldValue& value) {
    std::visit(
        [&](const auto& v) {
            using V = std::decay_t<decltype(v)>;
            if constexpr (std::is_same_v<V, std::monostate>) {
                w.null();
            } else if constexpr (std::is_same_v<V, double>) {
                // A float stays recognisable as one, since a setting of 5.0 is not the setting 5.
                number.clear();
                append_json_float(number, v);
                w.raw(number);
            } else {
                w.value(v);
            }
        },
        value);
}

void write_body(JsonWriter& w, const ConfigChanged& e) {
    std::string number;
    w.member("event", "config").key("set").begin_object();
    for (const auto& [name, value] : e.set) write_setting(w.key(name), number, value);
    w.end_object();
}

void write_body(JsonWriter& w, const BusChanged& e) {
    w.member("event", "bus").member("connected", e.connected);
}

void write_body(JsonWriter& w, const LeaderChanged& e) {
    w.member("event", "leader").member("leading", e.leading);
}

}  // namespace

void append_event_json(std::string& out, const Event& event) {
    JsonWriter w{out};
    w.begin_object().member("t", seconds_of(event.at));
    if (const auto* fpm = std::get_if<FpmArrived>(&event.body)) {
        // The FPM object goes straight to `out`: this one is written often.
        w.member("event", "fpm").member("role", to_string(fpm->role)).key("fpm");
        append_fpm_json(out, fpm->fpm);
        w.raw("").end_object();  // the writer learns that the value is there
        return;
    }
    std::visit(
        [&](const auto& body) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(body)>, FpmArrived>) write_body(w, body);
        },
        event.body);
    w.end_object();
}

}  // namespace dynaplan::wire
