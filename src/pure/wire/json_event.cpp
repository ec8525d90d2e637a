#include "wire/json_event.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <simdjson.h>

#include "wire/dom_parser.hpp"
#include "wire/fpm_json_dom.hpp"
#include "wire/json_fields.hpp"
#include "wire/json_nearest.hpp"

namespace dynaplan::wire {

namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

// {"policy":{"trigger":..}}: the configuration has no deeper sections.
constexpr int set_depth_max = 4;
// Names of fields have up to about 50 bytes. A section's name stands before each of its fields: without this
// bound a line of 1 MB could ask for many GB.
constexpr std::size_t setting_name_max = 200;

// The alternative that `out` has to hold, kept when it is there already so that its texts keep their room.
template <class T>
T& body_of(Event& out) {
    if (T* there = std::get_if<T>(&out.body)) return *there;
    return out.body.emplace<T>();
}

// All events begin with these two.
enum Common : std::size_t { f_t, f_event, f_first };

constexpr std::array<std::string_view, 3> role_names{"prefill", "decode", "agg"};
Role role_at(Fields& f, std::size_t i) {
    return f.choice(i, "role", role_names) == 0 ? Role::prefill : Role::decode;
}

template <class Id>
Id id_at(Fields& f, std::size_t i) {
    f.require(i);
    return f.count(i).value_or(0);
}

std::optional<Replicas> replicas_at(Fields& f, std::size_t i) {
    const auto n = f.count(i);
    return n ? std::optional{Replicas{*n}} : std::nullopt;
}

void read_engine(Fields& f, std::size_t worker_id, std::size_t dp_rank, EngineKey& out) {
    f.require(worker_id);
    if (const auto id = f.text(worker_id)) out.worker_id.assign(*id);
    if (f.ok() && out.worker_id.empty()) f.fail_at(worker_id, "must not be empty");
    out.dp_rank = f.count(dp_rank).value_or(0);
}

constexpr std::array<std::string_view, 5> capability_names{"num_gpu", "max_num_batched_tokens",
                                                           "max_num_seqs", "context_length", "max_kv_tokens"};
void read_capabilities(Fields& f, std::size_t i, Capabilities& out) {
    out = {};
    const auto object = f.object(i);
    if (!object) return;
    Fields c{"engine_joined.capabilities", capability_names};
    c.take(*object);
    if (const auto n = c.count(0)) out.num_gpu = Gpus{*n};
    out.max_num_batched_tokens = c.count(1);
    out.max_num_seqs = c.count(2);
    out.context_length = c.count(3);
    out.max_kv_tokens = c.count(4);
    if (!c.ok()) f = std::move(c);
}

void read_body(Fields& f, EngineJoined& out) {
    out.role = role_at(f, 2);
    read_engine(f, 3, 4, out.engine);
    read_capabilities(f, 5, out.capabilities);
}

void read_body(Fields& f, EngineLeft& out) {
    out.role = role_at(f, 2);
    read_engine(f, 3, 4, out.engine);
}

void read_body(Fields& f, FpmArrived& out) {
    out.role = role_at(f, 2);
    f.require(3);  // what is in it is read by parse, which reports its causes apart
}

void read_body(Fields& f, InventoryRead& out) {
    out.role = role_at(f, 2);
    out.ready = replicas_at(f, 3);
    out.expected = replicas_at(f, 4);
    out.rolling = f.flag(5).value_or(false);
}

// Known needs a count and both lengths; a count of 0 without lengths is a readable zero, hence idle.
void read_body(Fields& f, TrafficObserved& out) {
    const auto window = f.amount(2);
    const auto num_req = f.amount(3);
    const auto isl = f.amount(4);
    const auto osl = f.amount(5);
    const auto ttft = f.amount(6);
    const auto itl = f.amount(7);
    const auto hit_rate = f.number(8);  // the core clamps it
    const bool idle = f.flag(9).value_or(false);
    out.window = Seconds{window.value_or(0.0)};
    out.traffic = Reading<Traffic>::unknown();
    if (idle) {
        if (num_req.value_or(0.0) > 0.0) f.fail_at(9, "true, though num_req is above 0");
        out.traffic = Reading<Traffic>::idle();
    } else if (num_req && isl && osl) {
        if (!window) f.fail_at(2, "is missing, though the traffic is known");
        Traffic t{out.window, *num_req, *isl, *osl, hit_rate, std::nullopt, std::nullopt};
        if (ttft) t.ttft = Millis{*ttft};
        if (itl) t.itl = Millis{*itl};
        out.traffic = Reading<Traffic>::known(t);
    } else if (num_req == 0.0 && !isl && !osl) {
        out.traffic = Reading<Traffic>::idle();
    }
}

void read_body(Fields&, TickDue&) {}

constexpr std::array<std::string_view, 4> outcome_names{"acknowledged", "failed", "timed_out", "superseded"};
void read_body(Fields& f, DecisionOutcome& out) {
    out.decision_id = id_at<DecisionId>(f, 2);
    out.outcome = static_cast<OutcomeKind>(f.choice(3, "outcome", outcome_names));
}

void read_body(Fields& f, DecisionPublished& out) {
    out.proposal = id_at<ProposalId>(f, 2);
    out.decision_id = id_at<DecisionId>(f, 3);
}

constexpr std::array<std::string_view, 4> refusal_names{"unchanged", "not_ready", "conflict", "store"};
void read_body(Fields& f, DecisionRefused& out) {
    out.proposal = id_at<ProposalId>(f, 2);
    out.reason = static_cast<Refusal>(f.choice(3, "reason", refusal_names));
}

constexpr std::array<std::string_view, 5> state_names{"published", "acknowledged", "failed", "timed_out",
                                                      "superseded"};
void read_body(Fields& f, DecisionRestored& out) {
    out.decision_id = id_at<DecisionId>(f, 2);
    out.prefill = replicas_at(f, 3);
    out.decode = replicas_at(f, 4);
    out.state = static_cast<DecisionState>(f.choice(5, "state", state_names));
    f.require(6);
    out.age = Seconds{f.amount(6).value_or(0.0)};
}

using Settings = std::vector<std::pair<std::string, FieldValue>>;

std::optional<FieldValue> scalar_of(element e) {
    switch (e.type()) {
        case element_type::NULL_VALUE: return FieldValue{std::monostate{}};
        case element_type::BOOL: return FieldValue{bool{e}};
        case element_type::INT64: return FieldValue{std::int64_t{e}};
        case element_type::DOUBLE: return FieldValue{double{e}};
        case element_type::STRING: return FieldValue{std::string{std::string_view{e}}};
        default: return std::nullopt;
    }
}

// Sections become dotted names, as on the command line: {"policy":{"trigger":"tick"}} sets policy.trigger.
void read_settings(Fields& f, simdjson::dom::object object, const std::string& section, int depth,
                   Settings& out) {
    for (const auto [key, value] : object) {
        const std::string name = section + std::string{key};
        if (name.size() > setting_name_max)
            return f.fail_at(2, "no field has a name as long as " + in_quotes(name));
        if (value.is_object() && depth < set_depth_max) {
            read_settings(f, value, name + ".", depth + 1, out);
        } else if (auto scalar = scalar_of(value)) {
            out.emplace_back(name, std::move(*scalar));
        } else {
            std::string what = in_quotes(name) + ": expected null, a flag, a number or a string, got ";
            what += kind_of(value);
            return f.fail_at(2, what);
        }
    }
}

void refuse_repeated(Fields& f, const Settings& set) {
    std::vector<std::string_view> names;
    names.reserve(set.size());
    for (const auto& [name, value] : set) names.emplace_back(name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) f.fail_at(2, "sets " + in_quotes(*twice) + " twice");
}

void read_body(Fields& f, ConfigChanged& out) {
    out.set.clear();
    f.require(2);
    if (const auto set = f.object(2)) read_settings(f, *set, "", 1, out.set);
    refuse_repeated(f, out.set);
}

void read_body(Fields& f, BusChanged& out) {
    f.require(2);
    out.connected = f.flag(2).value_or(false);
}

void read_body(Fields& f, LeaderChanged& out) {
    f.require(2);
    out.leading = f.flag(2).value_or(false);
}

// One row per event: its name, its fields in the order in which append_event_json writes them, its reader.
struct EventForm {
    std::string_view name;
    std::array<std::string_view, fields_max> fields;
    std::size_t field_count;
    void (*read)(Fields&, Event&);
};

template <class Body, class... Names>
constexpr EventForm form(std::string_view name, Names... fields) {
    return {name, {"t", "event", fields...}, 2 + sizeof...(fields), [](Fields& f, Event& out) {
                read_body(f, body_of<Body>(out));
            }};
}

constexpr std::array<EventForm, 13> forms{
    form<FpmArrived>("fpm", "role", "fpm"),
    form<EngineJoined>("engine_joined", "role", "worker_id", "dp_rank", "capabilities"),
    form<EngineLeft>("engine_left", "role", "worker_id", "dp_rank"),
    form<InventoryRead>("inventory", "role", "ready", "expected", "rolling"),
    form<TrafficObserved>("traffic", "window_s", "num_req", "isl", "osl", "ttft_ms", "itl_ms", "kv_hit_rate",
                          "idle"),
    form<TickDue>("tick"),
    form<DecisionOutcome>("outcome", "decision_id", "outcome"),
    form<DecisionPublished>("published", "proposal", "decision_id"),
    form<DecisionRefused>("refused", "proposal", "reason"),
    form<DecisionRestored>("decision_restored", "decision_id", "prefill", "decode", "state", "age_s"),
    form<ConfigChanged>("config", "set"),
    form<BusChanged>("bus", "connected"),
    form<LeaderChanged>("leader", "leading"),
};

Result<const EventForm*> form_of(simdjson::dom::object object) {
    std::string_view name;
    element e;
    if (object.at_key("event").get(e) != simdjson::SUCCESS) {
        const bool is_effect = object.at_key("effect").error() == simdjson::SUCCESS;
        return failure(is_effect ? "key 'event' is missing; effects are output, not input"
                                 : "key 'event' is missing");
    }
    if (e.get(name) != simdjson::SUCCESS) {
        return failure("event: expected a string, got " + std::string{kind_of(e)});
    }
    for (const EventForm& f : forms) {
        if (f.name == name) return &f;
    }
    std::array<std::string_view, forms.size()> names;
    std::transform(forms.begin(), forms.end(), names.begin(), [](const EventForm& f) { return f.name; });
    return failure(unknown_name("event", name, names));
}

}  // namespace

struct StepLineParser::Impl {
    DomParser parser;
};

StepLineParser::StepLineParser() : impl_{std::make_unique<Impl>()} {}
StepLineParser::~StepLineParser() = default;
StepLineParser::StepLineParser(StepLineParser&&) noexcept = default;
StepLineParser& StepLineParser::operator=(StepLineParser&&) noexcept = default;

Result<StepLine> StepLineParser::parse(std::string_view line, Event& out) {
    if (line.size() > step_line_bytes_max) {
        return failure("the line has " + std::to_string(line.size()) + " bytes, more than " +
                       std::to_string(step_line_bytes_max));
    }
    if (line.find_first_not_of(" \t\r\n") == std::string_view::npos) return failure("the line is empty");
    element root;
    if (const auto error = impl_->parser.parse(line).get(root); error != simdjson::SUCCESS) {
        return failure("not JSON: " + std::string{simdjson::error_message(error)});
    }
    simdjson::dom::object object;
    if (root.get(object) != simdjson::SUCCESS) {
        return failure("expected a JSON object, got " + std::string{kind_of(root)});
    }
    const auto form = form_of(object);
    if (!form) return tl::unexpected{form.error()};

    Fields f{(*form)->name, Names{(*form)->fields}.first((*form)->field_count)};
    f.take(object);
    f.require(f_t);
    out.at = at_seconds(f.number(f_t).value_or(0.0));
    if (f.ok()) (*form)->read(f, out);
    if (!f.ok()) return failure(f.take_error());

    StepLine result{out.at, std::nullopt};
    if (auto* fpm = std::get_if<FpmArrived>(&out.body)) {
        const auto read = read_fpm_json(f.value(f_first + 1), fpm->fpm);
        if (!read) result.fpm_refused = read.error();
    }
    return result;
}

}  // namespace dynaplan::wire
