// Step-protocol and scenario files.
#include <cstdio>
#include <string>

#include "app/command_replay_job.hpp"
#include "wire/json_event.hpp"

namespace dynaplan::app {

namespace {

// One file; false when its configuration is wrong.
bool play(ReplayJob& job, InputFile& input, JournalOut& journal, Progress& progress) {
    std::optional<LoadedConfig> loaded;
    const auto configure = [&](std::string_view text) -> Result<replay::ScenarioConfig> {
        ConfigRequest request = request_for(job, true);
        if (!text.empty()) request.config = std::string{text};
        loaded = load_config(request);
        if (!loaded->ok()) {
            std::string all;
            for (const std::string& p : loaded->problems) all += (all.empty() ? "" : "; ") + p;
            return failure(all);
        }
        job.mode = loaded->config.planner.mode;
        job.preset = preset_name(loaded->config.planner.preset);
        return replay::ScenarioConfig{loaded->config.planner, coordinator_of(loaded->config)};
    };
    const auto begin = [&](replay::Session& session, const replay::ScenarioConfig&, TimePoint first) {
        return journal.begin(session, header_config(*loaded), first, 0);
    };
    replay::ScenarioPlayer player{input.path(), job.assume, job.report, job.refusals, configure, begin};

    // A file of the protocol is read line by line; a line that is longer than the reader's limit is refused.
    std::string rest;
    std::uint64_t number = 0;
    std::uint64_t done = 0;
    bool too_long = false;
    const auto take = [&](std::string_view line) {
        ++number;
        if (too_long) {
            job.refusals.add("too_long", input.path(), number, "longer than 1 MiB");
            too_long = false;
            return true;
        }
        const auto taken = player.take_line(line, number);
        if (taken) return true;
        std::fprintf(stderr, "%s\n", taken.error().message.c_str());
        job.usage_error = exit_code::usage;
        return false;
    };
    for (bool more = true; more && !interrupted();) {
        const auto piece = input.read();
        if (!piece) {
            job.problem(piece.error().message);
            break;
        }
        more = !piece->empty();
        rest += *piece;
        done += piece->size();
        std::size_t from = 0;
        for (std::size_t to = rest.find('\n'); to != std::string::npos; to = rest.find('\n', from)) {
            if (!take(std::string_view{rest}.substr(from, to - from))) return false;
            from = to + 1;
        }
        rest.erase(0, from);
        if (rest.size() > wire::step_line_bytes_max) {
            too_long = true;
            rest.clear();
        }
        journal.flush();
        progress.show("replaying " + input.path(), done, input.size());
    }
    if ((!rest.empty() || too_long) && !interrupted() && !take(rest)) return false;
    for (const replay::Miss& miss : player.misses()) {
        job.differences.push_back({input.path() + ":" + std::to_string(miss.line) + ": expectation missed",
                                   miss.why, miss.expected, miss.found});
    }
    job.expectations = job.expectations.value_or(0) + player.expectations();
    return true;
}

}  // namespace

void replay_steps(ReplayJob& job, JournalOut& journal) {
    const auto began = std::chrono::steady_clock::now();
    Progress progress;
    if (job.options.journal && job.inputs.size() > 1) {
        std::fprintf(stderr, "replay: --journal keeps one run: give one step-protocol file\n");
        job.usage_error = exit_code::usage;
        return;
    }
    for (InputFile& input : job.inputs) {
        if (interrupted() || !play(job, input, journal, progress)) break;
    }
    if (job.report.passes() + job.report.other_events() + job.report.ticks() == 0 && job.refusals.total() > 0)
        job.problem("no line could be used: nothing is replayed");
    job.run_time = std::chrono::steady_clock::now() - began;
    job.stopped = interrupted();
}

}  // namespace dynaplan::app
