// Core scenario files (planner-core-scenario/1, tests/vectors/core/README.md): a configuration and the inputs
// of every tick in, and what the reference's own rules answered. The one reader of them: `dynaplan replay`,
// the golden check and the benchmark drive plan::Rules from it.
//
// Engines get dense indices in the order in which the file first names them. Members that are not known are
// left to whoever compares the file as a whole. Everything is checked where it stands: an Error is one line
// that begins with the place in the file, "ticks[3].in.traffic.isl: must be a number, ...".
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/capabilities.hpp"
#include "core/config.hpp"
#include "core/result.hpp"
#include "core/role.hpp"
#include "core/tick.hpp"
#include "plan/rules.hpp"

namespace dynaplan::replay {

inline constexpr std::string_view core_scenario_schema = "planner-core-scenario/1";

struct CoreTick {
    std::optional<PerRole<Capabilities>> update_capabilities;  // replace the old ones before this tick
    std::optional<ScheduledTick> scheduled;                    // empty: what the rules asked for last
    TimePoint now{};
    std::optional<Reading<Traffic>> traffic;
    std::optional<WorkerCounts> worker_counts;
    std::optional<PerRole<std::vector<EngineObservation>>> engines;

    // The reference's answer. Where it raised there is none, and its later ticks are not comparable.
    bool raises = false;
    std::optional<ScalingTarget> scale_to;

    // In the form that plan::Rules takes. Its lists are views of this tick's.
    [[nodiscard]] TickInput input() const&;
    TickInput input() const&& = delete;
};

class CoreScenario {
public:
    // Reads all but the ticks. The text is not kept.
    [[nodiscard]] static Result<CoreScenario> open(std::string_view text);
    ~CoreScenario();
    CoreScenario(CoreScenario&&) noexcept;
    CoreScenario& operator=(CoreScenario&&) noexcept;

    // The reference's fields as its validation left them, on top of the preset dynamo.
    [[nodiscard]] const PlannerConfig& config() const;
    // What comes before the first tick: capabilities, benchmark samples, traffic that warms the predictors.
    void prepare(plan::Rules&) const;
    // When the rules are asked for their initial tick; empty: they are not.
    [[nodiscard]] std::optional<TimePoint> start() const;

    // The next tick into `out`; false after the last one. An error stays: the tick is not passed over.
    [[nodiscard]] Result<bool> next(CoreTick& out);

    // Of the ticks read so far.
    [[nodiscard]] std::int64_t engines(Role) const;
    [[nodiscard]] std::int64_t observations() const;

private:
    struct Impl;
    explicit CoreScenario(std::unique_ptr<Impl>);
    std::unique_ptr<Impl> impl_;
};

}  // namespace dynaplan::replay
