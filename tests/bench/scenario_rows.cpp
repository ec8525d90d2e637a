// Golden decision traces replayed through on_tick, inputs already decoded.
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/row.hpp"
#include "core/assert.hpp"
#include "plan/rules.hpp"
#include "replay/core_scenario.hpp"

namespace dynaplan::bench {

namespace {

struct Scenario {
    replay::CoreScenario file;
    std::vector<replay::CoreTick> ticks;
    std::vector<TickInput> inputs;  // views of the ticks
};

std::shared_ptr<const Scenario> read_scenario(const std::string& name) {
    std::ifstream in{std::string{DYNAPLAN_VECTORS_DIR} + "/core/" + name + ".json"};
    DYNAPLAN_ASSERT(in.good());
    const std::string text{std::istreambuf_iterator<char>{in}, {}};
    auto file = replay::CoreScenario::open(text);
    DYNAPLAN_ASSERT(file && file->start());
    auto s = std::make_shared<Scenario>(Scenario{std::move(*file), {}, {}});
    for (;;) {
        replay::CoreTick tick;
        const auto more = s->file.next(tick);
        DYNAPLAN_ASSERT(more);
        if (!*more) break;
        DYNAPLAN_ASSERT(!tick.scheduled && !tick.update_capabilities);
        s->ticks.push_back(std::move(tick));
    }
    for (const replay::CoreTick& tick : s->ticks) s->inputs.push_back(tick.input());
    return s;
}

Pass replay_once(const Scenario& s) {
    plan::Rules rules{s.file.config()};
    s.file.prepare(rules);
    ScheduledTick next = rules.initial_tick(*s.file.start());
    return counted_pass(1, [&] {
        for (const TickInput& input : s.inputs) next = rules.on_tick(next, input).next_tick;
    });
}

}  // namespace

void add_scenario_rows(std::vector<Row>& rows) {
    const auto add = [&rows](const std::string& name, int ticks, double reference) {
        rows.push_back({"replay of " + name + " (" + std::to_string(ticks) + " ticks)", Unit::time, reference,
                        std::nullopt, [name](bool) -> std::function<Pass()> {
                            const auto scenario = read_scenario(name);
                            return [scenario] { return replay_once(*scenario); };
                        }});
    };
    add("long_disagg_diurnal_both", 260, 0.248);
    add("long_agg_diurnal_both", 220, 0.235);
    add("many_engines_24x2", 14, 0.076);
}

}  // namespace dynaplan::bench
