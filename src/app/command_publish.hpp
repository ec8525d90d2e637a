// `dynaplan publish`: a recording onto a bus, as engines would send it.
#pragma once

namespace CLI {
class App;
}

namespace dynaplan::app {

void add_publish_command(CLI::App&, int& exit_code);

}  // namespace dynaplan::app
