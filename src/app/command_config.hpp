// `dynaplan config check|show|schema`. Each returns the exit code: 0 done, 2 the configuration is wrong.
#pragma once

#include <string>

#include "app/config_load.hpp"

namespace CLI {
class App;
}

namespace dynaplan::app {

// What a command printed; main writes them to stdout and stderr.
struct Printed {
    std::string out;
    std::string err;
};

int run_config_check(const ConfigRequest&, Printed&);
int run_config_show(const ConfigRequest&, bool json, Printed&);
int run_config_schema(Printed&);

// Registers the command; its callback prints and sets the exit code.
void add_config_command(CLI::App&, int& exit_code);

}  // namespace dynaplan::app
