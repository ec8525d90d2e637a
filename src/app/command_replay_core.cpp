// Core scenario files (planner-core-scenario/1, tests/vectors/core/README.md): golden traces of the
// reference's own rules. The inputs of every tick are given to plan::Rules, and its decisions compared with
// the file's.
#include <string>
#include <string_view>
#include <utility>

#include "app/command_replay_job.hpp"
#include "plan/rules.hpp"
#include "replay/core_scenario.hpp"

namespace dynaplan::app {

namespace {

// The largest golden file has 20 MB.
constexpr std::uint64_t scenario_bytes_max = std::uint64_t{256} << 20U;

std::string text_of(const std::optional<ScalingTarget>& target) {
    if (!target) return "no change";
    const auto side = [](const std::optional<Replicas>& n) {
        return n ? std::to_string(n->count()) : std::string{"none"};
    };
    return "prefill " + side(target->prefill) + ", decode " + side(target->decode);
}

// One tick: false when the file is not to be followed beyond it.
bool run_tick(ReplayJob& job, const InputFile& input, std::size_t index, const replay::CoreTick& t,
              plan::Rules& rules, ScheduledTick& next) {
    if (t.update_capabilities) rules.set_capabilities(*t.update_capabilities);
    const ScheduledTick tick = t.scheduled.value_or(next);
    const TickResult result = rules.on_tick(tick, t.input());
    next = result.next_tick;

    // The report takes what a planner would have said of this tick.
    Effects effects;
    DiagnosticsReport report;
    report.diagnostics = result.diagnostics;
    report.ran_load = tick.run_load;
    report.ran_throughput = tick.run_throughput;
    if (t.worker_counts) {
        report.ready = t.worker_counts->ready;
        report.expected = t.worker_counts->expected;
    }
    if (result.scale_to) {
        ScaleTo scale;
        scale.proposal = static_cast<ProposalId>(job.report.decisions().size());
        scale.prefill = result.scale_to->prefill;
        scale.decode = result.scale_to->decode;
        scale.reason = result.reason;
        scale.why = result.why;
        effects.push_back({t.now, std::move(scale)});
    }
    effects.push_back({t.now, std::move(report)});
    job.report.take(Event{t.now, TickDue{}}, effects);

    if (t.raises) return false;  // ours holds; after it the two cannot be compared
    if (t.scale_to == result.scale_to) return true;
    job.differences.push_back({input.path() + ": tick " + std::to_string(index) + " decides otherwise", "",
                               text_of(t.scale_to), text_of(result.scale_to)});
    return false;
}

void play(ReplayJob& job, const InputFile& input, std::string_view text) {
    auto scenario = replay::CoreScenario::open(text);
    if (!scenario) return job.problem(input.path() + ": " + scenario.error().message);
    plan::Rules rules{scenario->config()};
    job.mode = rules.config().mode;
    job.preset = "dynamo";
    scenario->prepare(rules);
    ScheduledTick next;
    if (const auto start = scenario->start()) next = rules.initial_tick(*start);
    std::size_t index = 0;
    replay::CoreTick tick;
    while (!interrupted()) {
        const auto more = scenario->next(tick);
        if (!more) job.problem(input.path() + ": " + more.error().message);
        if (!more.value_or(false) || !run_tick(job, input, index++, tick, rules, next)) break;
    }
    for (const Role role : all_roles) job.engines[role] += scenario->engines(role);
    job.notes.push_back(input.path() + ": " + std::to_string(index) + " ticks, " +
                        std::to_string(scenario->observations()) + " observations");
}

}  // namespace

void replay_core_scenarios(ReplayJob& job) {
    const auto began = std::chrono::steady_clock::now();
    for (InputFile& input : job.inputs) {
        const auto text = input.read_all(scenario_bytes_max);
        if (!text) {
            job.problem(text.error().message);
            continue;
        }
        play(job, input, *text);
        if (interrupted() || !job.differences.empty()) break;
    }
    job.run_time = std::chrono::steady_clock::now() - began;
    job.stopped = interrupted();
}

}  // namespace dynaplan::app
