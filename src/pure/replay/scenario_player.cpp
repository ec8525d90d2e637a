#include "replay/scenario_player.hpp"

#include <charconv>
#include <utility>
#include <variant>

#include "wire/json_effect.hpp"

namespace dynaplan::replay {

namespace {

// What a miss shows of the effects: the ones that decide, before the ones that only accompany them.
std::string shown(const std::vector<std::string>& effects) {
    constexpr std::size_t shown_max = 10;
    std::string out;
    for (std::size_t i = effects.size() > shown_max ? effects.size() - shown_max : 0; i < effects.size();
         ++i) {
        if (!out.empty()) out += '\n';
        out += effects[i];
    }
    return effects.empty() ? "no effects" : out;
}

}  // namespace

ScenarioPlayer::ScenarioPlayer(std::string name, Assume assume, RunReport& report, Refusals& refusals,
                               Configure configure, Begin begin)
    : name_{std::move(name)},
      assume_{assume},
      report_{report},
      refusals_{refusals},
      configure_{std::move(configure)},
      begin_{std::move(begin)} {}

void ScenarioPlayer::refuse(std::string_view cause, std::uint64_t number, std::string_view message) {
    refusals_.add(cause, name_, number, message);
}

Result<void> ScenarioPlayer::take_line(std::string_view line, std::uint64_t number) {
    const wire::ScenarioLine scenario = wire::scenario_line(line);
    switch (scenario.kind) {
        case wire::ScenarioLineKind::blank: break;
        case wire::ScenarioLineKind::why: why_ = scenario.text; break;
        case wire::ScenarioLineKind::config: {
            if (config_) {
                refuse("config_line", number, "a config line stands once, before the first event");
                break;
            }
            auto made = configure_(scenario.text);
            if (!made) return failure(name_ + ":" + std::to_string(number) + ": " + made.error().message);
            config_ = std::move(*made);
            break;
        }
        case wire::ScenarioLineKind::expect: expect(scenario.text, number); break;
        case wire::ScenarioLineKind::event:
            if (take_setting(scenario.text, number)) break;
            return take_event(scenario.text, number);
    }
    return {};
}

// True when the line was one.
bool ScenarioPlayer::take_setting(std::string_view line, std::uint64_t number) {
    if (const auto assume = setting_value(line, "assume")) {
        if (session_ || (*assume != "acknowledged" && *assume != "never")) {
            refuse("setting", number, "assume is acknowledged or never, before the first event");
        } else {
            assume_ = *assume == "acknowledged" ? Assume::acknowledged : Assume::nothing;
        }
        return true;
    }
    const auto timeout = setting_value(line, "decision_timeout_s");
    if (!timeout) return false;
    double seconds = 0.0;
    const auto [end, error] = std::from_chars(timeout->data(), timeout->data() + timeout->size(), seconds);
    if (session_ || error != std::errc{} || end != timeout->data() + timeout->size() || !(seconds > 0.0)) {
        refuse("setting", number, "decision_timeout_s is a number above 0, before the first event");
    } else {
        timeout_ = Seconds{seconds};
    }
    return true;
}

Result<void> ScenarioPlayer::begin(TimePoint at) {
    if (!config_) {
        auto made = configure_({});
        if (!made) return tl::unexpected{made.error()};
        config_ = std::move(*made);
    }
    if (timeout_) config_->coordinator.timeout = *timeout_;
    session_ = std::make_unique<Session>(config_->planner, assume_, config_->coordinator);
    Tape* tape = begin_ ? begin_(*session_, *config_, at) : nullptr;
    feed_.emplace(*session_, report_, tape);
    return {};
}

Result<void> ScenarioPlayer::take_event(std::string_view text, std::uint64_t number) {
    const auto parsed = parser_.parse(text, event_);
    if (!parsed) {
        refuse("step_line", number, parsed.error().message);
        return {};
    }
    if (parsed->fpm_refused) {
        refuse("bad_fpm: " + std::string{wire::to_string(*parsed->fpm_refused)}, number, text);
        return {};
    }
    if (std::holds_alternative<DecisionPublished>(event_.body) ||
        std::holds_alternative<DecisionRefused>(event_.body)) {
        refuse("step_line", number, "the replay's own coordinator answers proposals");
        return {};
    }
    if (!session_) {
        if (auto begun = begin(event_.at); !begun) return begun;
    } else if (event_.at < session_->now()) {
        refuse("earlier", number, "t is earlier than the line before");
        return {};
    }
    if (const auto fed = feed_->feed(event_); !fed) refuse("refused", number, fed.error().message);
    keep_effects();
    return {};
}

void ScenarioPlayer::keep_effects() {
    for (const Moment& moment : feed_->moments()) {
        if (moment.event.body.index() != event_.body.index() &&
            !std::holds_alternative<TickDue>(moment.event.body)) {
            wire::append_event_json(effects_.emplace_back(), moment.event);  // an answer of the coordinator
        }
        for (std::size_t i = 0; i < moment.effects.size(); ++i)
            wire::append_effect_json(effects_.emplace_back(), moment.effects[i], moment.fates[i]);
    }
}

void ScenarioPlayer::expect(std::string_view text, std::uint64_t number) {
    const auto missed = match_expectation(text, effects_);
    if (!missed) {
        refuse("expect_line", number, missed.error().message);
        misses_.push_back({number, why_, std::string{text}, missed.error().message});
    } else {
        ++expectations_;
        if (!missed->empty())
            misses_.push_back({number, why_, std::string{text}, *missed + "\n" + shown(effects_)});
    }
    effects_.clear();
}

}  // namespace dynaplan::replay
