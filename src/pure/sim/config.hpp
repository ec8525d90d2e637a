// Everything that makes a simulated fleet what it is. With the seed it determines the whole run.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/role.hpp"
#include "core/units.hpp"
#include "sim/arrivals.hpp"
#include "sim/engine.hpp"

namespace dynaplan::sim {

struct Startup {
    Seconds typical{30.0};  // from the decision until the replica serves
    double spread = 0.0;    // deviation of the logarithm
    double never = 0.0;     // probability that a new replica does not get there at all
};

struct RoleConfig {
    EngineConfig engine;
    std::int64_t replicas = 1;  // serving at the start
    Startup startup;
};

enum class Routing : std::uint8_t { least_backlog, round_robin };

// When the operator of the fleet says that a decision is carried out.
struct Acknowledge {
    enum class When : std::uint8_t { after_delay, when_ready, never };
    When when = When::after_delay;
    Seconds delay{1.0};
};

// What the bus does to reports. A doubled report comes again, a late one arrives up to `lateness` later and
// so out of order.
struct Channel {
    double lost = 0.0;
    double doubled = 0.0;
    double late = 0.0;
    Seconds lateness{2.0};
};

// A misbehaving replica, by its number within the role (from 0, in order of creation).
struct Fault {
    enum class Kind : std::uint8_t {
        slow,    // passes take `factor` times as long
        silent,  // works, but its reports do not arrive
        stuck,   // no pass; it keeps reporting its queue once a second
        crash,   // gone at `from`; its requests start again elsewhere, its successor starts up at once
    };
    Role role{};
    std::int64_t replica = 0;
    Kind kind = Kind::slow;
    Seconds from{0.0};
    Seconds until{std::numeric_limits<double>::infinity()};
    double factor = 3.0;
};

// A time during which traffic cannot be read.
struct Outage {
    Seconds from{0.0};
    Seconds until{0.0};
};

struct FleetConfig {
    Mode mode = Mode::disagg;
    TimePoint start{};
    PerRole<RoleConfig> role;
    TrafficConfig traffic;
    Routing routing = Routing::least_backlog;
    Seconds handover{0.01};            // KV transfer from prefill to decode
    Seconds heartbeat{1.0};            // idle for so long, and again every so often (event plane 1.5)
    Seconds inventory_interval{5.0};   // beside every change; 0 = on change only
    Seconds traffic_delay{0.05};       // from question to answer
    Seconds crash_noticed{10.0};       // until discovery drops a crashed worker (its lease)
    bool leaves_when_draining = true;  // else it leaves discovery only when it is empty
    Acknowledge acknowledge;
    Channel channel;
    std::vector<Fault> faults;
    std::vector<Outage> traffic_outages;
    std::int64_t queued_most = 200'000;  // requests in the whole fleet; further ones are refused and counted
    Millis ttft{500.0};                  // for the scores
    Millis itl{50.0};
};

// What is wrong with it, one line each; empty when a fleet can be made of it.
std::vector<std::string> problems(const FleetConfig&);

}  // namespace dynaplan::sim
