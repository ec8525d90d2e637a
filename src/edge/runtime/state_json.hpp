// What an operator sees at /v1/state (DESIGN 6): readiness, inventory, engines, holds with reason and
// deadline, the newest decision, and the health of bus, store and journal. Served from the first moment on.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "port/bus_counts.hpp"
#include "port/journal.hpp"
#include "runtime/service.hpp"

namespace dynaplan::runtime {

// What discovery knows.
struct DiscoveryView {
    std::string_view backend;
    bool stale = false;  // the store is away: what was known stays
    std::string reason;
    PerRole<std::int64_t> workers;
    std::vector<std::string> remarks;
    std::map<std::string, std::uint64_t, std::less<>> refused;  // records that were not used, by cause
};

// What the state shows and the service does not know.
struct Surroundings {
    std::string listen;                         // the address that is really served
    std::string bus;                            // "zmq engine", ...
    std::string store;                          // "file", ...
    std::function<std::string()> store_reason;  // why the store cannot be used now; empty when it can
    std::function<DiscoveryView()> discovery;
};

[[nodiscard]] std::string state_json(const Service&, const Surroundings&, const port::BusCounts&,
                                     const port::Journal&);
// {"missing": [...]}
[[nodiscard]] std::string missing_json(const std::vector<Missing>&);

}  // namespace dynaplan::runtime
