// proto/step.md and its sample files against the code: each sample line is read, written again, and shown in
// the page.
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "wire/json_effect.hpp"
#include "wire/json_event.hpp"

namespace dynaplan::wire {

namespace {

std::string text_of(const std::string& name) {
    std::ifstream file{std::string{DYNAPLAN_PROTO_DIR} + "/" + name};
    REQUIRE_MESSAGE(file.good(), name);
    return {std::istreambuf_iterator<char>{file}, {}};
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in{text};
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

// The page's sample lines with the given word in them.
std::multiset<std::string> shown(const std::string& page, std::string_view word) {
    std::multiset<std::string> lines;
    for (const std::string& line : lines_of(page)) {
        if (line.starts_with("    {") && line.find(word) != std::string::npos) lines.insert(line.substr(4));
    }
    return lines;
}

// The effects behind samples/step_effects.jsonl.
std::vector<std::string> effects_written() {
    ScaleTo up;
    up.decode = Replicas{2};
    up.reason = Reason::scale_up;
    RoleWhy why;
    why.ready = Replicas{1};
    why.expected = Replicas{1};
    why.engines = 1;
    why.estimate_max = why.estimate_min = Millis{61.2};
    why.target = Millis{50.0};
    why.threshold = Millis{40.0};
    why.load_reason = Reason::scale_up;
    why.load_desired = Replicas{2};
    up.why.role.decode = why;

    ScaleTo again = up;
    again.proposal = 1;
    again.why.role.decode = RoleWhy{};
    again.why.role.decode->ready = Replicas{1};
    again.why.role.decode->engines = 1;
    again.why.role.decode->clamps = {ClampStage::step, ClampStage::budget};

    ScaleTo down;
    down.proposal = 2;
    down.prefill = Replicas{3};
    down.decode = Replicas{2};
    down.reason = Reason::scale_down;
    down.cancels = true;
    down.why.role.prefill = RoleWhy{};
    down.why.role.prefill->ready = Replicas{4};
    down.why.role.prefill->expected = Replicas{6};
    down.why.role.prefill->engines = 4;
    down.why.role.prefill->throughput_reason = Reason::scale;
    down.why.role.prefill->throughput_desired = Replicas{3};
    down.why.role.prefill->demand_rps = 30.0;
    down.why.role.prefill->engine_rps = 12.5;

    DiagnosticsReport report;
    report.diagnostics.estimated_itl = Millis{61.2};
    report.diagnostics.load_decision_reason = Reason::scale_up;
    report.diagnostics.load_decision_reason_of.decode = Reason::scale_up;
    report.ready.decode = Replicas{1};
    report.expected.decode = Replicas{1};
    report.holds = {{Role::decode, Reason::decision_pending, at_seconds(5.0), at_seconds(605.0)}};
    report.ran_load = true;
    report.fpm_observed = 412;

    std::vector<std::string> lines;
    const auto write = [&](double t, EffectBody body, const ProposalFate& fate = {}) {
        append_effect_json(lines.emplace_back(), {at_seconds(t), std::move(body)}, fate);
    };
    write(5.0, up, {.decision_id = 0, .refused = std::nullopt});
    write(5.0, again, {.decision_id = std::nullopt, .refused = Refusal::unchanged});
    write(5.0, down);
    write(180.0, TrafficWanted{Seconds{180.0}});
    write(5.0, report);
    write(5.0, WakeAt{at_seconds(10.0)});
    write(200.0, ConfigRefused{"config.set: is missing"});
    append_done(lines.emplace_back(), at_seconds(5.0));
    return lines;
}

}  // namespace

TEST_CASE("step samples: every event line is read, and written again as it stands") {
    const auto lines = lines_of(text_of("samples/step_events.jsonl"));
    StepLineParser parser;
    Event out;
    std::set<std::size_t> kinds;
    double last = 0.0;
    for (const std::string& line : lines) {
        INFO(line);
        const auto r = parser.parse(line, out);
        REQUIRE_MESSAGE(r.has_value(), (r ? "" : r.error().message));
        CHECK(!r->fpm_refused);
        std::string again;
        append_event_json(again, out);
        CHECK(again == line);
        CHECK(seconds_of(out.at) >= last);
        last = seconds_of(out.at);
        kinds.insert(out.body.index());
    }
    CHECK(kinds.size() == std::variant_size_v<EventBody>);
    CHECK(shown(text_of("step.md"), "\"event\":") == std::multiset<std::string>(lines.begin(), lines.end()));
}

TEST_CASE("step samples: every effect line is what the code writes") {
    const auto lines = lines_of(text_of("samples/step_effects.jsonl"));
    CHECK(lines == effects_written());
    CHECK(shown(text_of("step.md"), "\"effect\":") == std::multiset<std::string>(lines.begin(), lines.end()));
}

TEST_CASE("step samples: the page's scenario lines are recognised by their first key") {
    std::vector<ScenarioLineKind> kinds;
    for (const std::string& line : lines_of(text_of("step.md"))) {
        if (!line.starts_with("    {")) continue;
        const auto kind = scenario_line(line).kind;
        if (kind != ScenarioLineKind::event) kinds.push_back(kind);
    }
    CHECK(kinds == std::vector{ScenarioLineKind::why, ScenarioLineKind::config, ScenarioLineKind::expect});
}

}  // namespace dynaplan::wire
