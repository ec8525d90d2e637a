// The program: commands, version, help. Everything else stands in the commands.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <string>

#include "app/command_config.hpp"
#include "app/command_decisions.hpp"
#include "app/command_publish.hpp"
#include "app/command_record.hpp"
#include "app/command_replay.hpp"
#include "app/command_serve.hpp"
#include "app/command_step.hpp"
#include "app/version.hpp"

int main(int argc, char** argv) {
    using namespace dynaplan::app;
    constexpr int wrong_usage = 2;
    CLI::App app{"Scaling controller for LLM inference fleets", "dynaplan"};
    int exit_code = 0;
    app.set_version_flag("--version", "dynaplan " + std::string{program_version});
    app.require_subcommand(1);
    app.footer(
        "Examples:\n"
        "  dynaplan serve --config planner.yaml        plan for a running fleet\n"
        "  dynaplan decisions watch --exec ./scale.sh  carry out what it decides\n"
        "  dynaplan replay trace.jsonl.gz              what the planner would have decided on a recording\n"
        "  dynaplan replay run.journal                 verify a journal, byte for byte\n"
        "  dynaplan step --config planner.yaml         drive the core from any program\n"
        "  dynaplan config check planner.yaml          every problem of a configuration\n"
        "Each command has its own --help.");
    add_config_command(app, exit_code);
    add_serve_command(app, exit_code);
    add_replay_command(app, exit_code);
    add_step_command(app, exit_code);
    add_publish_command(app, exit_code);
    add_record_command(app, exit_code);
    add_decisions_command(app, exit_code);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : wrong_usage;
    } catch (const std::exception& e) {
        // Out of memory, mostly: say so and end.
        std::fprintf(stderr, "dynaplan: %s\n", e.what());
        return 1;
    }
    return exit_code;
}
