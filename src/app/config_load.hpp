// From file, flags and environment to the effective configuration. Precedence: flag, file, environment,
// preset. Every problem is found in one pass and reported with its place: "planner.yaml:3: ttft: must be
// above 0, not -1".
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/config_app.hpp"
#include "app/config_table.hpp"

namespace dynaplan::app {

// The environment, handed in so that tests give their own. A variable that is set but empty counts as not
// set.
using Environment = std::function<std::optional<std::string>(std::string_view)>;
Environment process_environment();
Environment no_environment();

// One setting from the command line. `flag` is how it was written ("--ttft", "--set ttft"), for messages.
struct Override {
    std::string flag;
    std::string field;  // dotted name or alias
    std::string value;
};

struct ConfigRequest {
    std::optional<std::string> config;  // the value of --config: a file or inline JSON
    std::vector<Override> overrides;
    Environment environment = no_environment();
    // Whether traffic reaches the planner in a way that the configuration does not show: step protocol lines,
    // a journal. A metric_pulling_prometheus_endpoint that is given counts anyway.
    bool traffic_source = false;
    bool allow_unknown = false;  // unknown fields become warnings
};

struct Origin {
    enum class Kind : std::uint8_t { standard, preset, environment, file, flag };
    Kind kind = Kind::standard;
    std::string place;  // "planner.yaml:3", "--ttft", "PROMETHEUS_ENDPOINT"; empty for a default
    int line = 0;       // of the file
    std::string name;   // as it was written
};

struct LoadedConfig {
    AppConfig config;
    std::vector<std::string> problems;  // not empty: use nothing of the rest, exit 2
    std::vector<std::string> warnings;
    std::map<std::string, Origin>
        origins;  // by canonical name, of the fields that are not at a plain default
    [[nodiscard]] bool ok() const { return problems.empty(); }
};

LoadedConfig load_config(const ConfigRequest&);

}  // namespace dynaplan::app
