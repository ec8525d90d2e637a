// The text of /metrics, from what the running program knows at that moment. proto/metrics.md lists every
// family.
#pragma once

#include <cstddef>
#include <string>

#include "port/bus_counts.hpp"
#include "port/journal.hpp"
#include "runtime/service.hpp"
#include "runtime/state_json.hpp"

namespace dynaplan::app {

struct MetricSources {
    const runtime::Service& service;
    const port::BusCounts& bus;
    const runtime::DiscoveryView& discovery;
    const port::Journal& journal;
    std::size_t waiting = 0;  // clients that wait for a decision
};

std::string metrics_text(const MetricSources&);

}  // namespace dynaplan::app
