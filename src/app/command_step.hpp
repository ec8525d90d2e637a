// `dynaplan step`: the core as a filter, lines of the step protocol in on stdin and out on stdout
// (proto/step.md).
#pragma once

#include "app/config_flags.hpp"

namespace CLI {
class App;
}

namespace dynaplan::app {

// Exit codes: 0 at the end of the input, 1 when reading or writing fails, 2 for a wrong configuration.
int run_step(const ConfigFlags&);

void add_step_command(CLI::App&, int& exit_code);

}  // namespace dynaplan::app
