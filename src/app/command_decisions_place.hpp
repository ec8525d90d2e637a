// Which planner the scheduler's commands talk to, or which etcd, from flags and the planner's own
// configuration.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "app/command_decisions_source.hpp"
#include "core/result.hpp"

namespace CLI {
class App;
}

namespace dynaplan::app {

struct PlaceOptions {
    std::optional<std::string> url;
    std::optional<std::string> token_file;
    std::optional<std::string> config;
    std::optional<std::string> etcd;
    std::optional<std::string> name_space;

    // Registers the options. The object must live as long as the CLI11 application.
    void add_to(CLI::App&);
};

// With --etcd the keys there. Else a planner: by flag, else http.listen and http.token_file of the
// configuration, else http://127.0.0.1:9086. Fails for what is wrong with flags or configuration, a line for
// each problem; nothing is connected yet.
Result<std::unique_ptr<DecisionSource>> open_source(boost::asio::io_context&, const PlaceOptions&);

}  // namespace dynaplan::app
