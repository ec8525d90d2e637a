// `dynaplan decisions`: what an external scheduler does with decisions, from a shell.
#pragma once

namespace CLI {
class App;
}

namespace dynaplan::app {

void add_decisions_command(CLI::App&, int& exit_code);

}  // namespace dynaplan::app
