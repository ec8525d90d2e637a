// What `serve` needs from a configuration, checked before anything is opened.
#pragma once

#include <string>
#include <vector>

#include "app/config_app.hpp"
#include "bus/engine_hop.hpp"
#include "decision/coordinator.hpp"

namespace dynaplan::app {

// Everything that this version cannot serve, one line each with the remedy.
std::vector<std::string> serve_problems(const AppConfig&);
// Of these, what concerns the sources: all that `record` needs.
std::vector<std::string> source_problems(const AppConfig&);

// The engines' addresses with their roles; to be asked after serve_problems() found nothing.
std::vector<bus::HopEndpoint> hop_endpoints(const AppConfig&);

decision::CoordinatorConfig coordinator_config(const AppConfig&);

// The fields of the core that differ, as a config event carries them.
std::vector<std::pair<std::string, FieldValue>> changed_fields(const PlannerConfig& from,
                                                               const PlannerConfig& to);

}  // namespace dynaplan::app
