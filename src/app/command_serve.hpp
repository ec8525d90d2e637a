// `dynaplan serve`: the live planner.
#pragma once

namespace CLI {
class App;
}

namespace dynaplan::app {

void add_serve_command(CLI::App&, int& exit_code);

}  // namespace dynaplan::app
