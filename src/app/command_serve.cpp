#include "app/command_serve.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <string>

#include "app/config_flags.hpp"
#include "app/serve.hpp"

namespace dynaplan::app {

namespace {

int run_serve(const ConfigFlags& flags) {
    for (const std::string& warning : flags.warnings())
        std::fprintf(stderr, "warning: %s\n", warning.c_str());
    const ConfigRequest request = flags.request(process_environment(), false);
    const LoadedConfig loaded = load_config(request);
    for (const std::string& warning : loaded.warnings) std::fprintf(stderr, "warning: %s\n", warning.c_str());
    for (const std::string& problem : loaded.problems) std::fprintf(stderr, "%s\n", problem.c_str());
    constexpr int wrong_usage = 2;
    if (!loaded.ok()) return wrong_usage;
    return serve(loaded, request);
}

}  // namespace

void add_serve_command(CLI::App& app, int& exit_code) {
    CLI::App* command =
        app.add_subcommand("serve", "The live planner: listens to the engines and publishes decisions");
    const auto flags = std::make_shared<ConfigFlags>();
    flags->add_to(*command, true);
    command->footer(
        "Decisions are read and acknowledged at http.listen (/v1/decisions/next, /v1/decisions/ID/complete); "
        "/v1/state "
        "says what it sees.\n"
        "SIGTERM and SIGINT end it cleanly, SIGHUP reads the configuration again.\n"
        "Examples:\n"
        "  dynaplan serve --config planner.yaml\n"
        "  dynaplan serve --config planner.yaml --set http.listen=127.0.0.1:0 --set policy.trigger=tick");
    command->callback([flags, &exit_code] { exit_code = run_serve(*flags); });
}

}  // namespace dynaplan::app
