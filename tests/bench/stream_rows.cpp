// Whole streams through the core under preset dynaplan: a journal read back and verified, and lines of the
// step protocol. Both from memory: disk and pipe are not ours to measure here.
#include <memory>

#include "bench/fleet.hpp"
#include "bench/row.hpp"
#include "core/assert.hpp"
#include "replay/session.hpp"
#include "wire/journal_reader.hpp"
#include "wire/journal_writer.hpp"
#include "wire/json_effect.hpp"
#include "wire/json_event.hpp"

namespace dynaplan::bench {

namespace {

constexpr std::int64_t engines = 100;

// Reports of every engine, 20 a second, with inventory before them and traffic every minute.
std::vector<Event> recorded_events(std::int64_t rounds) {
    ReportingFleet fleet{engines};
    Draws draws{4};
    std::vector<Event> events;
    for (const Role role : all_roles) {
        const Replicas n{engines / 2};
        events.push_back({at_seconds(0.0), InventoryRead{role, n, n, false}});
    }
    for (std::int64_t i = 1; i <= rounds; ++i) {
        const TimePoint at = at_seconds(0.05 * static_cast<double>(i));
        fleet.report(at, events);
        constexpr std::int64_t rounds_per_minute = 1'200;
        if (i % rounds_per_minute == 0)
            events.push_back({at, TrafficObserved{Seconds{60.0}, Reading<Traffic>::known(traffic(draws))}});
    }
    return events;
}

// What `serve` would have written: every event that the core was fed, each followed by its effects.
std::string recorded_journal(std::int64_t rounds) {
    replay::Session session{tick_config(Preset::dynaplan), replay::Assume::acknowledged};
    wire::JournalWriter writer;
    std::string bytes;
    writer.append_header(bytes, {});
    writer.append_checkpoint(bytes, at_seconds(0.0), session.save_planner(), session.save_coordinator());
    std::vector<replay::Moment> moments;
    for (const Event& event : recorded_events(rounds)) {
        moments.clear();
        DYNAPLAN_ASSERT(session.feed(event, moments).has_value());
        for (const replay::Moment& m : moments) {
            writer.append_event(bytes, m.event);
            for (const Effect& effect : m.effects) writer.append_effect(bytes, effect);
        }
    }
    return bytes;
}

// Feeds the journal's events to a planner that starts from its checkpoint, and compares every effect's line.
std::int64_t replay_journal(const std::string& bytes) {
    auto reader = wire::JournalReader::open(bytes);
    DYNAPLAN_ASSERT(reader.has_value());
    std::optional<plan::Planner> planner;
    std::int64_t reports = 0;
    Event event;
    Effects effects;
    std::size_t compared = 0;
    std::string line;
    for (;;) {
        const auto item = reader->next(event);
        DYNAPLAN_ASSERT(item.has_value());
        switch (item->kind) {
            case wire::JournalItemKind::checkpoint: {
                auto loaded = plan::Planner::load(item->planner_state);
                DYNAPLAN_ASSERT(loaded.has_value());
                planner.emplace(std::move(*loaded));
                break;
            }
            case wire::JournalItemKind::event:
                DYNAPLAN_ASSERT(compared == effects.size());
                if (std::holds_alternative<FpmArrived>(event.body)) ++reports;
                effects = planner->step(event);
                compared = 0;
                break;
            case wire::JournalItemKind::effect:
                line.clear();
                wire::append_effect_json(line, effects.at(compared++));
                DYNAPLAN_ASSERT(line == item->text);
                break;
            case wire::JournalItemKind::note:
            case wire::JournalItemKind::torn_tail: DYNAPLAN_ASSERT(false); break;
            case wire::JournalItemKind::end: return reports;
        }
    }
}

struct Lines {
    std::vector<std::string> lines;
    std::int64_t reports = 0;
};

// Lines in, effect lines out, as `dynaplan step` does it between reading and writing.
std::int64_t run_lines(const Lines& in, std::string& out) {
    replay::Session session{tick_config(Preset::dynaplan), replay::Assume::acknowledged};
    wire::StepLineParser parser;
    std::vector<replay::Moment> moments;
    Event event;
    for (const std::string& line : in.lines) {
        const auto parsed = parser.parse(line, event);
        DYNAPLAN_ASSERT(parsed.has_value() && !parsed->fpm_refused);
        moments.clear();
        if (!session.feed_quietly(event, moments)) {
            if (moments.empty()) DYNAPLAN_ASSERT(session.feed(event, moments).has_value());
            for (const replay::Moment& m : moments) {
                for (std::size_t i = 0; i < m.effects.size(); ++i) {
                    wire::append_effect_json(out, m.effects[i], m.fates[i]);
                    out += '\n';
                }
            }
        }
        wire::append_done(out, parsed->at);
        out += '\n';
        constexpr std::size_t block = 1 << 16;
        if (out.size() >= block) out.clear();
    }
    return in.reports;
}

}  // namespace

void add_stream_rows(std::vector<Row>& rows) {
    rows.push_back({"replay of a journal, effects verified, FPMs", Unit::rate, std::nullopt, 1e-6,
                    [](bool quick) -> std::function<Pass()> {
                        const auto bytes =
                            std::make_shared<std::string>(recorded_journal(quick ? 20 : 4'000));
                        return [bytes] {
                            std::int64_t reports = 0;
                            const double seconds = seconds_taken([&] { reports = replay_journal(*bytes); });
                            return Pass{seconds / static_cast<double>(reports), std::nullopt};
                        };
                    },
                    5});
    rows.push_back({"step lines, FPMs", Unit::rate, std::nullopt, 1.0 / 200'000,
                    [](bool quick) -> std::function<Pass()> {
                        const auto lines = std::make_shared<Lines>();
                        for (const Event& e : recorded_events(quick ? 20 : 1'000)) {
                            wire::append_event_json(lines->lines.emplace_back(), e);
                            if (std::holds_alternative<FpmArrived>(e.body)) ++lines->reports;
                        }
                        return [lines] {
                            std::string out;
                            std::int64_t reports = 0;
                            const double seconds = seconds_taken([&] { reports = run_lines(*lines, out); });
                            return Pass{seconds / static_cast<double>(reports), std::nullopt};
                        };
                    },
                    5});
}

}  // namespace dynaplan::bench
