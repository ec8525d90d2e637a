#include "app/command_config.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "app/config_describe.hpp"
#include "app/config_flags.hpp"

namespace dynaplan::app {
namespace {

constexpr int done = 0;
constexpr int wrong_configuration = 2;

void print_lines(const std::vector<std::string>& lines, std::string_view kind, std::string& to) {
    for (const std::string& line : lines) to += std::string{kind} + line + "\n";
}

// Problems stand bare, one a line, so that editors find file and line at its beginning.
bool refused(const LoadedConfig& loaded, Printed& printed) {
    print_lines(loaded.warnings, "warning: ", printed.err);
    print_lines(loaded.problems, "", printed.err);
    return !loaded.ok();
}

void write(const Printed& printed) {
    std::fwrite(printed.out.data(), 1, printed.out.size(), stdout);
    std::fwrite(printed.err.data(), 1, printed.err.size(), stderr);
}

// What CLI11 fills; shared with the callbacks, which outlive this function.
struct Arguments {
    ConfigFlags flags;
    std::optional<std::string> file;
    bool json = false;
};

ConfigRequest request_of(const Arguments& a) {
    ConfigRequest request = a.flags.request(process_environment(), false);
    if (a.file) request.config = a.file;
    return request;
}

void add_file(CLI::App& app, Arguments& a) {
    app.add_option("FILE", a.file, "Configuration: a YAML or JSON file, or inline JSON");
    a.flags.add_to(app, true);
}

}  // namespace

int run_config_check(const ConfigRequest& request, Printed& printed) {
    const LoadedConfig loaded = load_config(request);
    if (refused(loaded, printed)) return wrong_configuration;
    const bool is_inline = request.config && request.config->find_first_of("{[") == 0;
    printed.out += (request.config && !is_inline ? *request.config : "configuration") + ": valid\n";
    return done;
}

int run_config_show(const ConfigRequest& request, bool json, Printed& printed) {
    const LoadedConfig loaded = load_config(request);
    if (refused(loaded, printed)) return wrong_configuration;
    printed.out += json ? show_config_json(loaded) : show_config(loaded);
    return done;
}

int run_config_schema(Printed& printed) {
    printed.out += config_schema();
    return done;
}

void add_config_command(CLI::App& app, int& exit_code) {
    CLI::App* config = app.add_subcommand("config", "Check, show and describe the configuration");
    config->require_subcommand(1);
    config->footer(
        "Examples:\n"
        "  dynaplan config check planner.yaml\n"
        "  dynaplan config show planner.yaml --set policy.trigger=tick\n"
        "  dynaplan config schema > planner.schema.json");

    const auto run = [&exit_code](auto command) {
        Printed printed;
        exit_code = command(printed);
        write(printed);
    };

    CLI::App* check = config->add_subcommand("check", "List every problem of a configuration, with its line");
    const auto check_arguments = std::make_shared<Arguments>();
    add_file(*check, *check_arguments);
    check->callback([=] {
        if (!check_arguments->file && !check_arguments->flags.has_config()) throw CLI::RequiredError("FILE");
        run([&](Printed& p) { return run_config_check(request_of(*check_arguments), p); });
    });

    CLI::App* show =
        config->add_subcommand("show", "The effective configuration, and where each value comes from");
    const auto show_arguments = std::make_shared<Arguments>();
    add_file(*show, *show_arguments);
    show->add_flag("--json", show_arguments->json, "As JSON");
    show->callback([=] {
        run([&](Printed& p) {
            return run_config_show(request_of(*show_arguments), show_arguments->json, p);
        });
    });

    CLI::App* schema = config->add_subcommand("schema", "The configuration as a JSON Schema");
    schema->callback([=] { run([](Printed& p) { return run_config_schema(p); }); });
}

}  // namespace dynaplan::app
