// What the parts of `dynaplan replay` share: the job with its inputs, and all that is told at its end.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/command_replay.hpp"
#include "app/config_load.hpp"
#include "app/files.hpp"
#include "replay/refusals.hpp"
#include "replay/run_report.hpp"
#include "replay/scenario_player.hpp"
#include "replay/session.hpp"
#include "replay/tape.hpp"
#include "replay/trace_roles.hpp"

namespace dynaplan::app {

namespace exit_code {
inline constexpr int done = 0;
inline constexpr int failed = 1;
inline constexpr int usage = 2;
inline constexpr int diverged = 3;
inline constexpr int interrupted = 130;
}  // namespace exit_code

// Both sides of a difference, ready to be shown.
struct Difference {
    std::string where;  // "run.journal: offset 1234, t 5"
    std::string event;  // may be empty
    std::string recorded;
    std::string replayed;
};

struct ReplayJob {
    explicit ReplayJob(const ReplayOptions& o) : options{o} {}

    const ReplayOptions& options;
    std::vector<InputFile> inputs;
    replay::RoleTable roles;
    replay::Assume assume = replay::Assume::acknowledged;

    // Results.
    std::string kind;
    replay::RunReport report;
    replay::Refusals refusals;
    std::vector<std::string> notes;     // inferred values and the like
    std::vector<std::string> warnings;  // exit code stays 0
    std::vector<std::string> problems;  // exit code 1
    std::vector<Difference> differences;
    std::optional<Mode> mode;
    std::optional<std::string> preset;
    PerRole<std::int64_t> engines;
    std::uint64_t late = 0;
    std::optional<std::int64_t> origin_unix_ms;
    std::optional<std::uint64_t> effects_verified;
    std::optional<std::int64_t> expectations;
    std::chrono::duration<double> read_time{0.0};
    std::chrono::duration<double> run_time{0.0};
    bool stopped = false;  // by Ctrl-C
    int usage_error = 0;   // set to exit_code::usage: nothing was run, and nothing is to be printed

    void problem(std::string text) { problems.push_back(std::move(text)); }
    [[nodiscard]] int code() const;
};

inline std::string preset_name(Preset preset) { return preset == Preset::dynamo ? "dynamo" : "dynaplan"; }

// Loads the configuration that the flags ask for; prints its problems and sets usage_error when it is wrong.
std::optional<LoadedConfig> load_for(ReplayJob&, const ConfigRequest&);
ConfigRequest request_for(const ReplayJob&, bool traffic_source);
decision::CoordinatorConfig coordinator_of(const AppConfig&);
// The effective configuration as one line of JSON, for a journal's header.
std::string header_config(const LoadedConfig&);

// The journal that --journal asks for, begun when the run begins.
class JournalOut {
public:
    explicit JournalOut(ReplayJob& job) : job_{job} {}
    // False when the file cannot be written.
    bool create();
    replay::Tape* begin(replay::Session&, std::string config_json, TimePoint first, std::int64_t unix_ms);
    void flush(bool all = false);
    void finish();

private:
    ReplayJob& job_;
    std::optional<OutputFile> file_;
    replay::Tape tape_;
};

void replay_traces(ReplayJob&, JournalOut&);
void replay_journals(ReplayJob&);
void replay_journals_with_policy(ReplayJob&, JournalOut&);
void replay_steps(ReplayJob&, JournalOut&);
void replay_core_scenarios(ReplayJob&);

std::string render_text(const ReplayJob&);
std::string render_json(const ReplayJob&);
std::string render_effects(const ReplayJob&);

}  // namespace dynaplan::app
