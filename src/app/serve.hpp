// The wiring of `dynaplan serve`: bus, store, journal, HTTP and timers around runtime::Service, on one loop.
#pragma once

#include "app/config_load.hpp"

namespace dynaplan::app {

// Runs until SIGTERM or SIGINT. Exit code: 0 after a clean stop, 1 where something that is needed cannot be
// had, 2 where the configuration asks for something that cannot be. `request` is how the configuration was
// asked for: SIGHUP asks again.
int serve(const LoadedConfig& loaded, const ConfigRequest& request);

}  // namespace dynaplan::app
