// Which planner the scheduler's commands talk to, from flags and the planner's own configuration.
#pragma once

#include <optional>
#include <string>

#include "app/command_decisions_http.hpp"
#include "core/result.hpp"

namespace CLI {
class App;
}

namespace dynaplan::app {

struct PlaceOptions {
    std::optional<std::string> url;
    std::optional<std::string> token_file;
    std::optional<std::string> config;

    // Registers the options. The object must live as long as the CLI11 application.
    void add_to(CLI::App&);
};

// A flag, else http.listen and http.token_file of the configuration, else http://127.0.0.1:9086. Fails with
// every problem, a line each.
Result<HttpPlace> place_of(const PlaceOptions&);

}  // namespace dynaplan::app
