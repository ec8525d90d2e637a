// Decisions over a planner's HTTP API (proto/decisions-api.yaml).
#pragma once

#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "app/command_decisions_source.hpp"
#include "core/result.hpp"

namespace dynaplan::app {

struct HttpPlace {
    std::string url;
    std::string token;  // empty: none is sent
};

// Fails for a URL that cannot be used.
Result<std::unique_ptr<DecisionSource>> open_http_source(boost::asio::io_context&, const HttpPlace&);

}  // namespace dynaplan::app
