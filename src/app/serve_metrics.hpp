// The text of /metrics (proto/metrics.md lists the families).
#pragma once

#include <cstddef>
#include <string>

#include "port/bus_counts.hpp"
#include "port/journal.hpp"
#include "runtime/service.hpp"

namespace dynaplan::app {

std::string metrics_text(const runtime::Service&, const port::BusCounts&, const port::Journal&,
                         std::size_t waiting);

}  // namespace dynaplan::app
