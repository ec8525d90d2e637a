#include "app/command_decisions.hpp"

#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "app/command_decisions_exit.hpp"
#include "app/command_decisions_follow.hpp"
#include "app/command_decisions_once.hpp"
#include "app/command_decisions_place.hpp"
#include "app/command_decisions_text.hpp"

namespace dynaplan::app {

namespace {

using std::chrono::milliseconds;

// All that the command line can say; each subcommand registers what concerns it.
struct Options {
    PlaceOptions place;
    bool json = false;
    std::optional<DecisionId> after;
    std::optional<double> timeout_s;
    std::optional<std::int64_t> count;
    std::string exec;
    std::optional<double> exec_timeout_s;
    std::optional<DecisionId> id;
    bool all = false;
};

std::optional<milliseconds> milliseconds_of(const std::optional<double>& seconds) {
    if (!seconds) return std::nullopt;
    return std::chrono::ceil<milliseconds>(std::chrono::duration<double>{*seconds});
}

// One run: a loop, the source, and the signals that end it.
class Session {
public:
    // Starts the work, which calls `finish` with the exit code, and runs until then.
    using Work = std::function<void(Session&)>;
    int run(const Options& options, const Work& work) {
        auto source = open_source(loop_, options.place);
        if (!source) return refuse(source.error().message);
        source_ = std::move(*source);
        await_signal();
        work(*this);
        loop_.run();
        return exit_code_;
    }
    void finish(int exit_code) {
        exit_code_ = exit_code;
        loop_.stop();
    }
    [[nodiscard]] boost::asio::io_context& loop() { return loop_; }
    [[nodiscard]] DecisionSource& source() { return *source_; }

    std::function<void(int)> on_signal;  // empty: the run ends at once

private:
    static int refuse(const std::string& problems) {
        std::fprintf(stderr, "%s\n", problems.c_str());
        return decisions_exit::wrong_usage;
    }
    void await_signal() {
        signals_.async_wait([this](const boost::system::error_code& error, int signal) {
            if (error) return;
            if (!on_signal) return finish(decisions_exit::interrupted);
            await_signal();
            on_signal(signal);
        });
    }

    boost::asio::io_context loop_{1};
    boost::asio::signal_set signals_{loop_, SIGINT, SIGTERM};
    std::unique_ptr<DecisionSource> source_;
    int exit_code_ = decisions_exit::failed;
};

int run_follow(const Options& options, bool once) {
    FollowOptions follow;
    follow.after = options.after;
    follow.timeout = milliseconds_of(options.timeout_s);
    follow.count = once ? std::optional<std::int64_t>{1} : options.count;
    follow.exec = options.exec;
    follow.exec_timeout = milliseconds_of(options.exec_timeout_s);
    // A command's own output has standard output for itself, unless JSON is asked for.
    follow.json = options.exec.empty() ? writes_json(options.json) : options.json;
    follow.patient = !once;
    std::optional<Follow> following;  // ends before the session's loop
    Session session;
    const int code = session.run(options, [&](Session& running) {
        following.emplace(running.loop(), running.source(), follow);
        running.on_signal = [&following](int signal) { following->interrupt(signal); };
        following->start([&running](int exit_code) { running.finish(exit_code); });
    });
    following.reset();
    return code;
}

int run_show(const Options& options) {
    Session session;
    return session.run(options, [&](Session& running) {
        show_decisions(running.source(), {options.id, options.all, writes_json(options.json)},
                       [&running](int code) { running.finish(code); });
    });
}

int run_settle(const Options& options, bool completed) {
    SettleOptions settle;
    settle.id = *options.id;
    settle.completed = completed;
    if (const auto timeout = milliseconds_of(options.timeout_s)) settle.timeout = *timeout;
    settle.json = writes_json(options.json);
    Session session;
    return session.run(options, [&](Session& running) {
        settle_decision(running.loop(), running.source(), settle,
                        [&running](int code) { running.finish(code); });
    });
}

constexpr double time_max = 1e7;  // s, some four months

CLI::App* add(CLI::App& parent, const std::shared_ptr<Options>& options, const char* name, const char* help) {
    CLI::App* command = parent.add_subcommand(name, help);
    options->place.add_to(*command);
    command->add_flag("--json", options->json, "JSON also on a terminal");
    return command;
}

void add_after(CLI::App& command, Options& options) {
    command
        .add_option(
            "--after", options.after,
            "The first decision with a larger id; -1: from the first that is kept (default: the newest "
            "if it is open, else the next)")
        ->check(CLI::Range(std::int64_t{-1}, std::numeric_limits<DecisionId>::max()))
        ->type_name("ID");
}

void add_timeout(CLI::App& command, Options& options, const char* help) {
    command.add_option("--timeout", options.timeout_s, help)
        ->check(CLI::Range(0.0, time_max))
        ->type_name("S");
}

void add_watch(CLI::App& parent, int& exit_code) {
    const auto options = std::make_shared<Options>();
    CLI::App* command = add(parent, options, "watch",
                            "Follow decisions; with --exec, carry each out by a command and acknowledge it");
    add_after(*command, *options);
    auto* exec = command
                     ->add_option("--exec", options->exec,
                                  "Command line for /bin/sh: exit status 0 is complete, anything else fail")
                     ->type_name("CMD");
    command
        ->add_option("--exec-timeout", options->exec_timeout_s,
                     "Time for the command, s; then it is stopped and counts as failed")
        ->check(CLI::Range(0.001, time_max))
        ->needs(exec)
        ->type_name("S");
    command->add_option("--count", options->count, "End after so many decisions")
        ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()))
        ->type_name("N");
    add_timeout(*command, *options, "End after so many seconds, with exit code 4");
    command->footer(
        "The command finds DYNAPLAN_DECISION_ID, DYNAPLAN_PREFILL, DYNAPLAN_DECODE (empty: not set), "
        "DYNAPLAN_REASON and\n"
        "DYNAPLAN_DECISION (all of it, JSON) in its environment, and nothing on its standard input. It may "
        "be given a decision\n"
        "again after a restart of the watch: let it set counts, not add to them. Only the newest open "
        "decision is carried out.\n"
        "SIGINT and SIGTERM go on to the command, whose decision then stays open; SIGINT ends with 130.\n"
        "With --count, exit code 1 when a command failed.\n"
        "Examples:\n"
        "  dynaplan decisions watch\n"
        "  dynaplan decisions watch --exec 'kubectl scale deploy/decode --replicas=$DYNAPLAN_DECODE'\n"
        "  dynaplan decisions watch --exec ./scale.sh --exec-timeout 600 --url http://planner:9086 "
        "--token-file token\n"
        "  dynaplan decisions watch --exec ./scale.sh --etcd http://127.0.0.1:2379 --namespace dynamo");
    command->callback([options, &exit_code] { exit_code = run_follow(*options, false); });
}

void add_wait(CLI::App& parent, int& exit_code) {
    const auto options = std::make_shared<Options>();
    CLI::App* command = add(parent, options, "wait", "Wait for one decision and print it");
    add_after(*command, *options);
    add_timeout(*command, *options, "How long, s; exit code 4 when none came (default: for ever)");
    command->footer(
        "Examples:\n"
        "  dynaplan decisions wait --timeout 60\n"
        "  dynaplan decisions wait --after 7 | jq .decode");
    command->callback([options, &exit_code] { exit_code = run_follow(*options, true); });
}

void add_show(CLI::App& parent, int& exit_code) {
    const auto options = std::make_shared<Options>();
    CLI::App* command = add(parent, options, "show", "Print the newest decision, one, or all that are kept");
    auto* id = command->add_option("ID", options->id, "Its id")->check(CLI::NonNegativeNumber);
    command->add_flag("--all", options->all, "All that are kept, oldest first, a line each")->excludes(id);
    command->footer(
        "Examples:\n"
        "  dynaplan decisions show\n"
        "  dynaplan decisions show 7 --json\n"
        "  dynaplan decisions show --all --config planner.yaml");
    command->callback([options, &exit_code] { exit_code = run_show(*options); });
}

void add_settle(CLI::App& parent, int& exit_code, bool completed) {
    const auto options = std::make_shared<Options>();
    CLI::App* command = add(parent, options, completed ? "complete" : "fail",
                            completed ? "Acknowledge a decision: the fleet is as it asked"
                                      : "Say that a decision could not be carried out");
    command->add_option("ID", options->id, "Its id")->required()->check(CLI::NonNegativeNumber);
    add_timeout(*command, *options,
                "How long to ask again while the planner stands by, s; then exit code 4 (default: 30)");
    command->footer(
        std::string{"Prints the decision as it then is. One that was over before stays as it was.\n"
                    "Example:\n  dynaplan decisions "} +
        (completed ? "complete" : "fail") + " 7");
    command->callback([options, &exit_code, completed] { exit_code = run_settle(*options, completed); });
}

}  // namespace

void add_decisions_command(CLI::App& app, int& exit_code) {
    CLI::App* command = app.add_subcommand(
        "decisions", "For schedulers: wait for decisions, carry them out, acknowledge them");
    command->require_subcommand(1);
    add_watch(*command, exit_code);
    add_wait(*command, exit_code);
    add_show(*command, exit_code);
    add_settle(*command, exit_code, true);
    add_settle(*command, exit_code, false);
    command->footer(
        "Output: a readable line on a terminal, else a line of JSON for each decision.\n"
        "Exit codes: 0 done, 1 failed, 2 wrong usage, 4 the time is over, 130 interrupted.\n"
        "Examples:\n"
        "  dynaplan decisions watch --exec ./scale.sh\n"
        "  dynaplan decisions complete 7");
}

}  // namespace dynaplan::app
