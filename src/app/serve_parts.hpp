// What the core of a live planner needs from a configuration.
#pragma once

#include <string>
#include <vector>

#include "app/config_app.hpp"
#include "decision/coordinator.hpp"

namespace dynaplan::app {

decision::CoordinatorConfig coordinator_config(const AppConfig&);

// The fields of the core that differ, as a config event carries them.
std::vector<std::pair<std::string, FieldValue>> changed_fields(const PlannerConfig& from,
                                                               const PlannerConfig& to);

}  // namespace dynaplan::app
