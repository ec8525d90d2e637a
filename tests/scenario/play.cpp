#include "scenario/play.hpp"

#include <memory>
#include <optional>

#include "core/config_field.hpp"
#include "replay/session.hpp"
#include "scenario/match.hpp"
#include "wire/json_effect.hpp"
#include "wire/json_event.hpp"

namespace dynaplan::scenario {

namespace {

FieldValue field_value(const Json& v) {
    if (v.is_null()) return std::monostate{};
    if (v.is_boolean()) return v.get<bool>();
    if (v.is_number_integer()) return v.get<std::int64_t>();
    if (v.is_number()) return v.get<double>();
    return v.get<std::string>();
}

void flatten(const Json& object, const std::string& section, std::vector<NamedValue>& out) {
    for (const auto& [key, value] : object.items()) {
        if (value.is_object()) {
            flatten(value, section + key + ".", out);
        } else {
            out.emplace_back(section + key, field_value(value));
        }
    }
}

class Player {
public:
    Player(const Scenario& scenario, Checkpoints checkpoints)
        : scenario_{scenario}, checkpoints_{checkpoints} {
        played_.lines = scenario.lines;
    }

    Played run() {
        for (const Step& step : scenario_.steps) {
            line_ = step.line;
            switch (step.kind) {
                case Step::Kind::config: take_config(step.value); break;
                case Step::Kind::assume:
                    assume_ =
                        step.value == "acknowledged" ? replay::Assume::acknowledged : replay::Assume::nothing;
                    break;
                case Step::Kind::timeout: coordinator_.timeout = Seconds{step.value.get<double>()}; break;
                case Step::Kind::event: take_event(step.value); break;
                case Step::Kind::expect: take_expect(step.value); break;
            }
        }
        return std::move(played_);
    }

private:
    void differ(std::string text) { played_.differences.push_back({line_, std::move(text)}); }

    void take_config(const Json& value) {
        std::vector<NamedValue> fields;
        flatten(value, "", fields);
        const std::vector<std::string> problems = set_fields(config_, fields, false);
        if (problems.empty()) return;
        std::string message;
        for (const std::string& p : problems) message += (message.empty() ? "" : "; ") + p;
        note(Json{{"t", nullptr}, {"effect", "error"}, {"message", message}});
    }

    void take_event(const Json& value) {
        if (!session_) session_ = std::make_unique<replay::Session>(config_, assume_, coordinator_);
        Event event;
        const auto parsed = parser_.parse(value.dump(), event);
        if (!parsed) return error(parsed.error().message);
        if (parsed->fpm_refused) return error("fpm refused");
        played_.whole_play.push_back("> " + value.dump());
        moments_.clear();
        const Result<void> fed = session_->feed(event, moments_);
        for (const replay::Moment& m : moments_) take_moment(m, event);
        if (!fed) error(fed.error().message);
    }

    void error(const std::string& message) {
        note(Json{{"t", nullptr}, {"effect", "error"}, {"message", message}});
    }

    void take_moment(const replay::Moment& m, const Event& fed) {
        std::string text;
        if (m.event.body.index() != fed.body.index()) {  // an answer of the coordinator
            wire::append_event_json(text, m.event);
            const Json answer = Json::parse(text);
            if (answer["event"] != "tick") note(answer);
        }
        for (std::size_t i = 0; i < m.effects.size(); ++i) {
            text.clear();
            wire::append_effect_json(text, m.effects[i], m.fates[i]);
            note(Json::parse(text));
        }
    }

    void note(const Json& effect) {
        played_.transcript += effect.dump() + "\n";
        played_.whole_play.push_back(effect.dump());
        seen_.push_back(effect);
    }

    [[nodiscard]] static std::string name_of(const Json& seen) {
        return seen.contains("effect") ? seen["effect"] : seen["event"];
    }

    void take_expect(const Json& expected) {
        Json now = expected;
        for (auto& [key, value] : now.items()) check(key, value);
        if (now != expected) played_.lines[line_ - 1] = spaced(Json{{"expect", now}});
        seen_.clear();
        if (checkpoints_ == Checkpoints::at_each_expect && session_) reload();
    }

    void reload() {
        Result<plan::Planner> loaded = plan::Planner::load(session_->planner().save());
        if (!loaded) return differ("checkpoint: " + loaded.error().message);
        session_->planner() = std::move(*loaded);
    }

    // One key of an expectation; `value` becomes what came where it differs.
    void check(const std::string& key, Json& value) {
        constexpr std::string_view all = "_all";
        if (key == "no") {
            for (const Json& name : value.is_array() ? value : Json::array({value})) check_absent(name);
        } else if (key == "holds") {
            const Json* last = last_of("diagnostics");
            settle(key, value, last == nullptr ? Json() : (*last)["holds"]);
        } else if (key == "error") {
            const Json* last = last_of("error");
            const std::string message = last == nullptr ? "" : (*last)["message"].get<std::string>();
            if (last != nullptr && message.find(value.get<std::string>()) != std::string::npos) return;
            settle(key, value, message);
        } else if (key.ends_with(all)) {
            Json list = Json::array();
            for (const Json& s : seen_) {
                if (name_of(s) == key.substr(0, key.size() - all.size())) list.push_back(s);
            }
            settle(key, value, list);
        } else {
            const Json* last = last_of(key);
            settle(key, value, last == nullptr ? Json() : *last);
        }
    }

    void settle(const std::string& key, Json& value, const Json& got) {
        std::vector<std::string> found;
        compare(value, got, key, found);
        for (std::string& text : found) differ(std::move(text));
        if (!found.empty()) value = updated(value, got);
    }

    void check_absent(const std::string& name) {
        for (const Json& s : seen_) {
            if (name_of(s) == name) return differ("expected no " + name + ", got " + s.dump());
        }
    }

    [[nodiscard]] const Json* last_of(const std::string& name) const {
        const Json* last = nullptr;
        for (const Json& s : seen_) {
            if (name_of(s) == name) last = &s;
        }
        return last;
    }

    const Scenario& scenario_;
    Checkpoints checkpoints_;
    PlannerConfig config_ = config_of(Preset::dynaplan);
    replay::Assume assume_ = replay::Assume::nothing;
    decision::CoordinatorConfig coordinator_;
    std::unique_ptr<replay::Session> session_;
    wire::StepLineParser parser_;
    std::vector<replay::Moment> moments_;
    std::size_t line_ = 0;
    std::vector<Json> seen_;  // effects and answers since the last expect
    Played played_;
};

}  // namespace

Played play(const Scenario& scenario, Checkpoints checkpoints) { return Player{scenario, checkpoints}.run(); }

}  // namespace dynaplan::scenario
