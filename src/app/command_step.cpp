#include "app/command_step.hpp"

#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "app/config_load.hpp"
#include "replay/step_filter.hpp"

namespace dynaplan::app {

namespace {

bool write_all(std::string& out) {
    std::string_view rest{out};
    while (!rest.empty()) {
        const ssize_t n = ::write(STDOUT_FILENO, rest.data(), rest.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        rest.remove_prefix(static_cast<std::size_t>(n));
    }
    out.clear();
    return true;
}

void tell_refusals(const replay::StepFilter& filter) {
    const replay::Refusals& refusals = filter.refusals();
    if (refusals.total() == 0) return;
    std::fprintf(stderr, "step: %llu of %llu lines were refused\n",
                 static_cast<unsigned long long>(refusals.total()),
                 static_cast<unsigned long long>(filter.lines()));
    for (const auto& [name, cause] : refusals.causes()) {
        std::fprintf(stderr, "  %8llu  %s\n", static_cast<unsigned long long>(cause.count), name.c_str());
        for (const replay::RefusedPlace& p : cause.places)
            std::fprintf(stderr, "            line %llu: %s\n", static_cast<unsigned long long>(p.line),
                         p.message.c_str());
    }
}

decision::CoordinatorConfig coordinator_of(const AppConfig& config) {
    return {config.decisions.timeout_from == TimeoutFrom::publication ? decision::TimeoutFrom::publication
                                                                      : decision::TimeoutFrom::first_refusal,
            config.decisions.timeout};
}

int failed(const char* what) {
    std::fprintf(stderr, "step: %s: %s\n", what, std::strerror(errno));
    return 1;
}

}  // namespace

int run_step(const ConfigFlags& flags) {
    for (const std::string& warning : flags.warnings())
        std::fprintf(stderr, "warning: %s\n", warning.c_str());
    const LoadedConfig loaded = load_config(flags.request(process_environment(), true));
    for (const std::string& warning : loaded.warnings) std::fprintf(stderr, "warning: %s\n", warning.c_str());
    for (const std::string& problem : loaded.problems) std::fprintf(stderr, "%s\n", problem.c_str());
    if (!loaded.ok()) return 2;
    std::signal(SIGPIPE, SIG_IGN);  // a peer that is gone is an error of write()

    replay::StepFilter filter{loaded.config.planner, coordinator_of(loaded.config)};
    constexpr std::size_t piece = std::size_t{1} << 18U;
    constexpr std::size_t answers_max = std::size_t{1} << 20U;
    std::vector<char> buffer(piece);
    std::string out;
    for (;;) {
        // Everything that came is answered before the next read, which may wait for a peer that waits for us.
        if (!write_all(out)) return failed("writing");
        const ssize_t n = ::read(STDIN_FILENO, buffer.data(), buffer.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return failed("reading");
        if (n == 0) break;
        std::string_view bytes{buffer.data(), static_cast<std::size_t>(n)};
        // In slices, so that ticks which answer much do not pile up.
        constexpr std::size_t slice = std::size_t{1} << 14U;
        for (; !bytes.empty(); bytes.remove_prefix(std::min(slice, bytes.size()))) {
            filter.take(bytes.substr(0, slice), out);
            if (out.size() > answers_max && !write_all(out)) return failed("writing");
        }
    }
    filter.finish(out);
    if (!write_all(out)) return failed("writing");
    tell_refusals(filter);
    return 0;
}

void add_step_command(CLI::App& app, int& exit_code) {
    CLI::App* step =
        app.add_subcommand("step", "The core as a filter: events in on stdin, effects out on stdout");
    const auto flags = std::make_shared<ConfigFlags>();
    flags->add_to(*step, true);
    step->footer(
        "One JSON object a line; each input line is answered with its effects and "
        "{\"t\":...,\"effect\":\"done\"}.\n"
        "Examples:\n"
        "  dynaplan step --config planner.yaml < events.jsonl > effects.jsonl\n"
        "  echo '{\"t\":0,\"event\":\"tick\"}' | dynaplan step --set mode=decode");
    step->callback([flags, &exit_code] { exit_code = run_step(*flags); });
}

}  // namespace dynaplan::app
