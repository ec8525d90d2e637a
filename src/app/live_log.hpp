// The log of the programs that run for long: one line an entry on standard error, UTC, so that standard
// output stays for results.
#pragma once

#include <memory>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace dynaplan::app {

inline void log_to_stderr() {
    spdlog::set_default_logger(
        std::make_shared<spdlog::logger>("dynaplan", std::make_shared<spdlog::sinks::stderr_sink_mt>()));
    spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
}

}  // namespace dynaplan::app
