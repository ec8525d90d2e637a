// A discovery record out of JSON that has been parsed already. Internal to .cpp files.
#pragma once

#include <nlohmann/json.hpp>

#include "wire/discovery_record.hpp"

namespace dynaplan::wire {

std::optional<DiscoveryRecord> discovery_record_of(const nlohmann::json& value);

}  // namespace dynaplan::wire
