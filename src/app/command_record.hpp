// `dynaplan record`: what a fleet reports, written into one journal file, to be replayed.
#pragma once

namespace CLI {
class App;
}

namespace dynaplan::app {

void add_record_command(CLI::App&, int& exit_code);

}  // namespace dynaplan::app
