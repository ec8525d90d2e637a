#include "app/command_replay.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

#include "app/command_replay_job.hpp"
#include "app/config_describe.hpp"
#include "app/version.hpp"

namespace dynaplan::app {

namespace {

namespace fs = std::filesystem;

int usage(const std::string& message) {
    std::fprintf(stderr, "replay: %s\n", message.c_str());
    return exit_code::usage;
}

// Empty when all is well.
std::string read_roles(const std::vector<std::string>& given, replay::RoleTable& table) {
    for (const std::string& text : given) {
        const auto equals = text.rfind('=');
        if (equals == std::string::npos) return "--role " + text + ": is not COMPONENT=ROLE";
        const auto role = role_from(text.substr(equals + 1));
        if (!role) {
            return "--role " + text + ": unknown role '" + text.substr(equals + 1) +
                   "', valid are prefill, decode, agg";
        }
        table.set(text.substr(0, equals), *role);
    }
    return {};
}

// An output that is one of the inputs would be gone before it is read.
std::string check_outputs(const ReplayOptions& o, const std::vector<std::string>& inputs) {
    for (const auto& out : {o.effects, o.journal}) {
        if (!out) continue;
        for (const std::string& in : inputs) {
            std::error_code ignored;
            if (fs::equivalent(*out, in, ignored)) return *out + ": is an input and cannot be written to";
        }
    }
    if (o.effects && o.journal && *o.effects == *o.journal)
        return *o.effects + ": --effects and --journal need two files";
    return {};
}

bool has_kind(const ReplayJob& job, InputKind kind) {
    return std::any_of(job.inputs.begin(), job.inputs.end(),
                       [kind](const InputFile& f) { return f.kind() == kind; });
}

// Empty when the kinds can be replayed together.
std::string check_kinds(const ReplayJob& job) {
    const bool journal = has_kind(job, InputKind::journal);
    const bool core = has_kind(job, InputKind::core_scenario);
    const bool lines = has_kind(job, InputKind::trace) || has_kind(job, InputKind::steps);
    if (int{journal} + int{core} + int{lines} <= 1) return {};
    std::string kinds;
    for (const InputFile& f : job.inputs) {
        constexpr std::array names{"a journal", "a trace", "a step-protocol file", "a core scenario"};
        kinds += (kinds.empty() ? "" : ", ") + f.path() + " is " + names[static_cast<std::size_t>(f.kind())];
    }
    return "journals, core scenarios and traces cannot be replayed together: " + kinds;
}

// A journal replayed as it stands is only compared; with settings of its own it is a new run.
bool is_new_run(const ReplayJob& job) { return job.options.with_policy || job.options.assume; }

// Empty when a run of these inputs can be kept. Told before the file is created: an empty one would be left.
std::string check_journal(const ReplayJob& job) {
    if (!job.options.journal) return {};
    if (has_kind(job, InputKind::core_scenario)) {
        return "--journal " + *job.options.journal +
               ": a core scenario drives the rules tick by tick, without events that a journal could keep; "
               "leave it out, or keep the decisions with --effects";
    }
    if (has_kind(job, InputKind::journal) && !is_new_run(job)) {
        return "--journal " + *job.options.journal +
               ": a journal that is only verified is not written again; copy the file, or try another policy "
               "on it with --set, --config or --preset";
    }
    return {};
}

void run_kind(ReplayJob& job, JournalOut& journal) {
    if (has_kind(job, InputKind::journal)) {
        job.kind = "journal";
        if (is_new_run(job)) {
            replay_journals_with_policy(job, journal);
        } else {
            replay_journals(job);
        }
    } else if (has_kind(job, InputKind::core_scenario)) {
        job.kind = "core scenario";
        replay_core_scenarios(job);
    } else if (has_kind(job, InputKind::trace)) {
        job.kind = "trace";
        replay_traces(job, journal);
    } else {
        job.kind = "step protocol";
        if (!job.options.assume) job.assume = replay::Assume::nothing;
        replay_steps(job, journal);
    }
}

void write_effects(ReplayJob& job, OutputFile& file) {
    auto written = file.write(render_effects(job));
    if (written) written = file.close();
    if (!written) job.problem(written.error().message);
}

}  // namespace

int ReplayJob::code() const {
    if (usage_error != 0) return usage_error;
    if (!differences.empty()) return exit_code::diverged;
    if (stopped) return exit_code::interrupted;
    return problems.empty() ? exit_code::done : exit_code::failed;
}

ConfigRequest request_for(const ReplayJob& job, bool traffic_source) {
    return job.options.flags.request(process_environment(), traffic_source);
}

std::optional<LoadedConfig> load_for(ReplayJob& job, const ConfigRequest& request) {
    LoadedConfig loaded = load_config(request);
    if (!loaded.ok()) {
        for (const std::string& problem : loaded.problems) std::fprintf(stderr, "%s\n", problem.c_str());
        job.usage_error = exit_code::usage;
        return std::nullopt;
    }
    job.mode = loaded.config.planner.mode;
    job.preset = preset_name(loaded.config.planner.preset);
    return loaded;
}

decision::CoordinatorConfig coordinator_of(const AppConfig& config) {
    return {config.decisions.timeout_from == TimeoutFrom::publication ? decision::TimeoutFrom::publication
                                                                      : decision::TimeoutFrom::first_refusal,
            config.decisions.timeout};
}

std::string header_config(const LoadedConfig& loaded) {
    return nlohmann::ordered_json::parse(show_config_json(loaded))["config"].dump();
}

bool JournalOut::create() {
    if (!job_.options.journal) return true;
    auto made = OutputFile::create(*job_.options.journal);
    if (!made) {
        job_.problem(made.error().message);
        return false;
    }
    file_.emplace(std::move(*made));
    return true;
}

replay::Tape* JournalOut::begin(replay::Session& session, std::string config_json, TimePoint first,
                                std::int64_t unix_ms) {
    if (!file_) return nullptr;
    wire::JournalHeader header;
    header.started_unix_ms = unix_ms;
    header.program_version = std::string{program_version};
    header.config_json = std::move(config_json);
    tape_.begin(header, session, first);
    return &tape_;
}

void JournalOut::flush(bool all) {
    constexpr std::size_t enough = std::size_t{1} << 20U;
    if (!file_ || (tape_.bytes().size() < enough && !all)) return;
    if (const auto written = file_->write(tape_.bytes()); !written) {
        job_.problem(written.error().message);
        file_.reset();
    }
    tape_.bytes().clear();
}

void JournalOut::finish() {
    flush(true);
    if (!file_) return;
    if (const auto closed = file_->close(); !closed) job_.problem(closed.error().message);
    file_.reset();
}

int run_replay(const ReplayOptions& options) {
    ReplayJob job{options};
    if (const std::string wrong = read_roles(options.roles, job.roles); !wrong.empty()) return usage(wrong);
    if (options.assume && *options.assume == "never") job.assume = replay::Assume::nothing;
    const std::vector<std::string> paths = expand_paths(options.files);
    if (const std::string wrong = check_outputs(options, paths); !wrong.empty()) return usage(wrong);
    // A wrong configuration is told before anything is read.
    if (!load_for(job, request_for(job, false))) return job.code();
    job.mode.reset();
    job.preset.reset();
    job.warnings = options.flags.warnings();

    for (const std::string& path : paths) {
        auto input = InputFile::open(path);
        if (input) {
            job.inputs.push_back(std::move(*input));
        } else {
            job.problem(input.error().message);
        }
    }
    if (const std::string wrong = check_kinds(job); !wrong.empty()) return usage(wrong);
    if (job.inputs.empty()) {
        for (const std::string& p : job.problems) std::fprintf(stderr, "replay: %s\n", p.c_str());
        return job.code();
    }

    if (const std::string wrong = check_journal(job); !wrong.empty()) return usage(wrong);

    std::optional<OutputFile> effects;
    if (options.effects) {
        auto made = OutputFile::create(*options.effects);
        if (!made) return usage(made.error().message);
        effects.emplace(std::move(*made));
    }
    JournalOut journal{job};
    if (!journal.create()) return usage(job.problems.back());

    watch_interrupt();
    run_kind(job, journal);
    journal.finish();
    if (effects) write_effects(job, *effects);
    if (job.usage_error != 0) return job.code();

    const std::string text = options.json ? render_json(job) : render_text(job);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
    for (const std::string& w : job.warnings) std::fprintf(stderr, "warning: %s\n", w.c_str());
    for (const std::string& p : job.problems) std::fprintf(stderr, "replay: %s\n", p.c_str());
    return job.code();
}

void add_replay_command(CLI::App& app, int& exit_code) {
    CLI::App* replay = app.add_subcommand(
        "replay", "Replay a recording: FPM traces, step-protocol and scenario files, journals");
    const auto options = std::make_shared<ReplayOptions>();
    replay->add_option("FILE", options->files, "Recordings; a quoted glob is taken too")->required();
    options->flags.add_to(*replay, true);
    replay
        ->add_option("--role", options->roles,
                     "Role of a component's engines: prefill, decode or agg; may be repeated")
        ->type_name("COMPONENT=ROLE")
        ->allow_extra_args(false);
    replay
        ->add_option("--assume", options->assume,
                     "What becomes of a decision: acknowledged at once (default for traces), or never")
        ->check(CLI::IsMember({"acknowledged", "never"}));
    replay->add_option("--effects", options->effects, "Write every proposal as a line of JSON")
        ->type_name("OUT");
    replay->add_option("--journal", options->journal, "Write the run as a journal segment")->type_name("OUT");
    replay->add_flag("--json", options->json, "Result as JSON");
    replay->footer(
        "Exit codes: 0 done, 1 something could not be read, 2 wrong usage, 3 diverged, 130 interrupted.\n"
        "Examples:\n"
        "  dynaplan replay 'fpm.*.jsonl.gz'                        what the planner would have decided\n"
        "  dynaplan replay trace.jsonl --config planner.yaml --set itl=40\n"
        "  dynaplan replay trace.jsonl --journal run.journal       keep the run\n"
        "  dynaplan replay run.journal                             verify it, byte for byte\n"
        "  dynaplan replay run.journal --set policy.trigger=tick   try a policy on it");
    replay->callback([replay, options, &exit_code] {
        for (const CLI::Option* option : replay->get_options()) {
            const std::string name = option->get_single_name();
            constexpr std::array ours{"FILE", "role", "assume", "effects", "journal", "json", "help"};
            if (option->count() > 0 && std::find(ours.begin(), ours.end(), name) == ours.end())
                options->with_policy = true;
        }
        exit_code = run_replay(*options);
    });
}

}  // namespace dynaplan::app
