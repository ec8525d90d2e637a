// The few fields that are lists or maps: reading them from a document, and writing them down again.
#pragma once

#include <string>
#include <vector>

#include "app/config_gather.hpp"

namespace dynaplan::app {

void take_list(const ListField&, const Setting&, AppConfig&, std::vector<PlacedProblem>&);

// In YAML's flow form, which is JSON as well.
std::string list_text(const ListField&, const AppConfig&);

}  // namespace dynaplan::app
