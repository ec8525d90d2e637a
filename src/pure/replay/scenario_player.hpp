// Plays a scenario file: lines of the step protocol with `why`, `config` and `expect` lines among them
// (proto/step.md, "Scenario files"). An `expect` is compared with the effects since the last one; what it
// does not name is not compared.
//
//     {"expect":{"scale_to":{"decode":2},"no":"traffic_wanted","diagnostics":{"load_decision_reason":"scale_up"}}}
//
// The keys are those of tests/scenario/README.md: the name of an effect, or of an answer of the coordinator
// (`published`, `refused`, `outcome`), is compared with the last of that name, with `_all` behind it with the
// list of all; `no` is a name, or a list of names, that must not have come; `holds` are those of the last
// diagnostics; `error` is a text that the last error contains. {"between":[a,b]}, {"at_least":a},
// {"at_most":b} take a range, numbers with a fraction agree to a relative 1e-9, null is also absent. Lines
// {"assume":"acknowledged"} and
// {"decision_timeout_s":60} stand before the first event. The short forms `repeat` and `passes` are the test
// runner's own and are refused here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.hpp"
#include "core/result.hpp"
#include "decision/coordinator.hpp"
#include "replay/event_feed.hpp"
#include "replay/refusals.hpp"
#include "replay/run_report.hpp"
#include "replay/session.hpp"
#include "replay/tape.hpp"
#include "wire/json_event.hpp"

namespace dynaplan::replay {

struct Miss {
    std::uint64_t line = 0;
    std::string why;       // of the scenario, the last one told
    std::string expected;  // the expectation as written
    std::string found;     // the effects that it was compared with
};

// One expectation against lines of effects and answers; what was missed, or empty. Problems of the
// expectation itself (not an object, an unknown effect) are an Error.
Result<std::string> match_expectation(std::string_view expectation, const std::vector<std::string>& effects);

struct ScenarioConfig {
    PlannerConfig planner;
    decision::CoordinatorConfig coordinator;
};

// The value of a one-member object such as {"assume":"acknowledged"}, as text; empty when the line is no such
// object.
std::optional<std::string> setting_value(std::string_view line, std::string_view name);

class ScenarioPlayer {
public:
    // Makes the configuration from the JSON text of a `config` line, or without one from an empty text.
    using Configure = std::function<Result<ScenarioConfig>(std::string_view)>;
    // Called once, before the first event: for whoever keeps a journal of the run.
    using Begin = std::function<Tape*(Session&, const ScenarioConfig&, TimePoint)>;

    ScenarioPlayer(std::string name, Assume assume, RunReport& report, Refusals& refusals,
                   Configure configure, Begin begin);

    // An Error is a configuration that cannot be used: nothing more is to be played.
    Result<void> take_line(std::string_view line, std::uint64_t number);

    [[nodiscard]] const std::vector<Miss>& misses() const { return misses_; }
    [[nodiscard]] std::int64_t expectations() const { return expectations_; }
    [[nodiscard]] const std::optional<ScenarioConfig>& config() const { return config_; }

private:
    Result<void> begin(TimePoint);
    Result<void> take_event(std::string_view text, std::uint64_t number);
    bool take_setting(std::string_view line, std::uint64_t number);
    void refuse(std::string_view cause, std::uint64_t number, std::string_view message);
    void expect(std::string_view text, std::uint64_t number);
    void keep_effects();

    std::string name_;
    Assume assume_;
    RunReport& report_;
    Refusals& refusals_;
    Configure configure_;
    Begin begin_;
    std::optional<ScenarioConfig> config_;
    std::optional<Seconds> timeout_;
    std::unique_ptr<Session> session_;
    std::optional<EventFeed> feed_;
    wire::StepLineParser parser_;
    Event event_;
    std::string why_;
    std::vector<std::string> effects_;  // since the last expectation
    std::vector<Miss> misses_;
    std::int64_t expectations_ = 0;
};

}  // namespace dynaplan::replay
