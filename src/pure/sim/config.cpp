#include "sim/config.hpp"

#include <string>

namespace dynaplan::sim {

namespace {

bool probability(double p) { return p >= 0.0 && p <= 1.0; }
bool duration(Seconds s) { return s.count() >= 0.0 && s.count() < 1e9; }

void role_problems(const RoleConfig& r, Role role, std::vector<std::string>& found) {
    const std::string name{to_string(role)};
    for (const std::string& p : problems(r.engine)) found.push_back(name + ": " + p);
    if (r.replicas < 0 || r.replicas > 100'000)
        found.push_back(name + ": replicas lie between 0 and 100,000");
    if (!duration(r.startup.typical) || !(r.startup.spread >= 0.0 && r.startup.spread <= 3.0) ||
        !probability(r.startup.never)) {
        found.push_back(name +
                        ": start-up: time at least 0 s, spread between 0 and 3, never between 0 and 1");
    }
}

}  // namespace

std::vector<std::string> problems(const FleetConfig& c) {
    std::vector<std::string> found = problems(c.traffic);
    for (const Role role : all_roles) {
        if (has_role(c.mode, role)) role_problems(c.role[role], role, found);
    }
    for (const Seconds s : {c.handover, c.inventory_interval, c.traffic_delay, c.crash_noticed,
                            c.acknowledge.delay, c.channel.lateness}) {
        if (!duration(s)) found.emplace_back("fleet: a delay is negative or not finite");
    }
    if (!(c.heartbeat.count() > 0.0)) found.emplace_back("fleet: heartbeat must be above 0 s");
    if (!probability(c.channel.lost) || !probability(c.channel.doubled) || !probability(c.channel.late)) {
        found.emplace_back("channel: lost, doubled and late lie between 0 and 1");
    }
    for (const Fault& f : c.faults) {
        if (!has_role(c.mode, f.role) || f.replica < 0 || !(f.from.count() >= 0.0) || f.until < f.from ||
            !(f.factor > 0.0)) {
            found.emplace_back("fault: role of the mode, replica from 0, from <= until, factor above 0");
        }
    }
    if (c.queued_most < 1) found.emplace_back("fleet: queued_most must be at least 1");
    return found;
}

}  // namespace dynaplan::sim
