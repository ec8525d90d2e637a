// The configuration's part of a command line: --config, --set, and the flags that Dynamo's planner had before
// it took a file, as aliases. Used by every command that loads a configuration.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/config_load.hpp"

namespace CLI {
class App;
}

namespace dynaplan::app {

// What the flags said, after the command line has been parsed.
class ConfigFlags {
public:
    // Registers the options. The object must live as long as the CLI11 application.
    void add_to(CLI::App&, bool with_older_flags);

    // The request that they make. `traffic_source`: see ConfigRequest.
    [[nodiscard]] ConfigRequest request(Environment, bool traffic_source) const;
    // Flags that are taken and do nothing here, one line each.
    [[nodiscard]] std::vector<std::string> warnings() const;
    [[nodiscard]] bool has_config() const { return config_.has_value(); }

private:
    void add_older_flags(CLI::App&);

    std::optional<std::string> config_;
    std::optional<std::string> preset_;
    std::vector<std::string> sets_;
    bool allow_unknown_ = false;
    std::vector<Override> older_;
    std::vector<std::string> ignored_;
};

}  // namespace dynaplan::app
