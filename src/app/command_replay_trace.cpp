// FPM traces, with lines of the step protocol among them or beside them.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "app/command_replay_job.hpp"
#include "replay/event_feed.hpp"
#include "replay/recording.hpp"
#include "replay/timeline.hpp"
#include "replay/trace_feed.hpp"
#include "wire/fpm_trace_reader.hpp"
#include "wire/json_writer.hpp"

namespace dynaplan::app {

namespace {

using Clock = std::chrono::steady_clock;

// What a killed writer leaves is a warning; anything else is damage.
void tell_damage(ReplayJob& job, const InputFile& input, const wire::TraceReader& reader) {
    for (const wire::TraceDamage& d : reader.damage()) {
        std::string text =
            input.path() + ": " + std::string{to_string(d.kind)} + " at offset " + std::to_string(d.offset);
        if (d.kind == wire::TraceDamageKind::cut_member || d.kind == wire::TraceDamageKind::cut_line) {
            job.warnings.push_back(text + ": the end is torn, what came before it is used");
        } else if (d.kind == wire::TraceDamageKind::expansion_limit) {
            job.problem(text + ": decompresses beyond all measure, the rest is not read");
        } else {
            job.problem(text + ": damaged, reading went on at the next member");
        }
    }
    if (reader.counts().damages > reader.damage().size()) {
        job.problem(input.path() + ": " + std::to_string(reader.counts().damages - reader.damage().size()) +
                    " damages more");
    }
}

void read_pending(wire::TraceReader& reader, replay::Recording& recording, bool& ended) {
    using Step = wire::TraceReader::Step;
    for (;;) {
        switch (reader.next()) {
            case Step::record: recording.take(reader.record(), reader.line_number()); break;
            case Step::other: recording.take_line(reader.text(), reader.line_number()); break;
            case Step::refused:
                recording.refuse(wire::describe(reader.error()), reader.line_number(), reader.text());
                break;
            case Step::need_more: return;
            case Step::end: ended = true; return;
        }
    }
}

void read_file(ReplayJob& job, InputFile& input, replay::Recording& recording, Progress& progress) {
    recording.begin_file(input.path());
    wire::TraceReader reader;
    std::uint64_t done = 0;
    bool ended = false;
    while (!ended && !interrupted()) {
        const auto piece = input.read();
        if (!piece) {
            job.problem(piece.error().message);
            break;
        }
        if (piece->empty()) {
            reader.finish();
        } else {
            reader.feed(*piece);
        }
        done += piece->size();
        read_pending(reader, recording, ended);
        progress.show("reading " + input.path(), done, input.size());
    }
    input.close();
    tell_damage(job, input, reader);
}

std::string names_of(const std::vector<std::string>& components) {
    std::string names;
    for (const std::string& c : components) names += (names.empty() ? "'" : ", '") + c + "'";
    return names;
}

// What a configuration would say, as the value of --config: flags and environment keep their precedence.
std::string inferred_config(Mode mode) {
    std::string text;
    wire::JsonWriter w{text};
    w.begin_object().member("mode", to_string(mode)).member("max_gpu_budget", std::int64_t{-1});
    w.member("prefill_engine_num_gpu", std::int64_t{1}).member("decode_engine_num_gpu", std::int64_t{1});
    w.end_object();
    return text;
}

// The configuration with all that the recording tells; empty when there is none to be had.
std::optional<LoadedConfig> settle(ReplayJob& job, const replay::Recording& recording) {
    auto loaded = load_for(job, request_for(job, recording.has_traffic()));
    if (!loaded) return std::nullopt;
    const bool given = job.options.flags.has_config() || loaded->origins.contains("mode");
    if (given) job.roles.set_mode(loaded->config.planner.mode);
    replay::TraceFacts facts = facts_of(recording, job.roles);
    if (facts.unknown_components.size() > 0 && facts.role.prefill.engines + facts.role.decode.engines == 0) {
        std::fprintf(stderr, "replay: no role is known for component %s: give --role COMPONENT=ROLE\n",
                     names_of(facts.unknown_components).c_str());
        job.usage_error = exit_code::usage;
        return std::nullopt;
    }
    if (!facts.unknown_components.empty()) {
        job.warnings.push_back("no role is known for component " + names_of(facts.unknown_components) +
                               ": give --role COMPONENT=ROLE");
    }
    if (!job.options.flags.has_config()) {
        const Mode mode = given ? loaded->config.planner.mode : mode_of(facts);
        ConfigRequest request = request_for(job, recording.has_traffic());
        request.config = inferred_config(mode);
        loaded = load_for(job, request);
        if (!loaded) return std::nullopt;
        if (!given) job.notes.push_back("mode " + std::string{to_string(mode)} + ", from the engines seen");
        if (loaded->config.planner.max_gpu_budget < 0) job.notes.emplace_back("unlimited GPU budget");
        if (!recording.has_inventory()) job.notes.emplace_back("ready: the workers that report");
    }
    // The engines of a bare trace never follow a decision, and no start-up can be measured: the guard's long
    // default would hide all that comes after the first one. Where the recording tells of its inventory, that
    // is what the guard looks at.
    Policy& policy = loaded->config.planner.policy;
    if (job.assume == replay::Assume::acknowledged && policy.guard_deadline == Seconds{0.0} &&
        !recording.has_inventory()) {
        policy.guard_deadline = loaded->config.planner.throughput_adjustment_interval;
        job.notes.emplace_back(
            "policy.guard_deadline_s is the throughput interval: a recorded fleet does not follow decisions");
    }
    for (std::string& note : complete(loaded->config.planner, facts)) job.notes.push_back(std::move(note));
    if (const auto problems = problems_of(loaded->config.planner); !problems.empty()) {
        for (const std::string& p : problems) std::fprintf(stderr, "%s\n", p.c_str());
        job.usage_error = exit_code::usage;
        return std::nullopt;
    }
    for (const Role role : all_roles) job.engines[role] = facts.role[role].engines;
    return loaded;
}

void run(const replay::Timeline& timeline, replay::TraceFeed& feed, replay::Recording& recording,
         JournalOut& journal, Progress& progress) {
    constexpr std::size_t between_looks = 4096;
    Event event;
    for (std::size_t i = 0; i < timeline.size(); ++i) {
        if (i % between_looks == 0) {
            if (interrupted()) return;
            progress.show("replaying", i, timeline.size());
            journal.flush();
        }
        timeline.event(i, event);
        if (const auto fed = feed.feed(event); !fed)
            recording.refusals().add("step_line", "", 0, fed.error().message);
    }
    // What is due at the very end belongs to the recording.
    if (const auto fed = feed.finish(); !fed)
        recording.refusals().add("step_line", "", 0, fed.error().message);
}

}  // namespace

void replay_traces(ReplayJob& job, JournalOut& journal) {
    const auto began = Clock::now();
    Progress progress;
    replay::Recording recording;
    for (InputFile& input : job.inputs) read_file(job, input, recording, progress);
    const auto read = Clock::now();
    job.read_time = read - began;

    if (recording.passes().empty()) {
        job.refusals = recording.refusals();
        job.stopped = interrupted();
        return job.problem("no report could be read: nothing is replayed");
    }
    const auto loaded = settle(job, recording);
    if (!loaded) return;
    const PlannerConfig& config = loaded->config.planner;
    replay::Timeline timeline{recording, job.roles, config.mode};
    job.late = timeline.late();
    job.origin_unix_ms = timeline.origin_ms();
    if (timeline.size() == 0) {
        job.problem("no report is of a role that the mode has: nothing is replayed");
    } else {
        replay::Session session{config, job.assume, coordinator_of(loaded->config)};
        Event first;
        timeline.event(0, first);
        replay::Tape* tape = journal.begin(session, header_config(*loaded), first.at, timeline.origin_ms());
        replay::EventFeed events{session, job.report, tape};
        replay::TraceFeed feed{session, events};
        run(timeline, feed, recording, journal, progress);
    }
    job.refusals = recording.refusals();
    job.run_time = Clock::now() - read;
    job.stopped = interrupted();
}

}  // namespace dynaplan::app
