// `dynaplan replay`: what the planner decides on a recording, or whether a journal still says the same.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/config_flags.hpp"

namespace CLI {
class App;
}

namespace dynaplan::app {

struct ReplayOptions {
    std::vector<std::string> files;
    ConfigFlags flags;
    bool with_policy = false;           // --config, --preset, --set or an older flag was given
    std::vector<std::string> roles;     // COMPONENT=ROLE
    std::optional<std::string> assume;  // acknowledged, never; default by the kind of input
    std::optional<std::string> effects;
    std::optional<std::string> journal;
    bool json = false;
};

// Prints to stdout, warnings and progress to stderr. The exit code is DESIGN 7's: 0 done, 1 something could
// not be read, 2 wrong usage, 3 diverged, 130 interrupted.
int run_replay(const ReplayOptions&);

// Registers the command; its callback sets the exit code.
void add_replay_command(CLI::App&, int& exit_code);

}  // namespace dynaplan::app
