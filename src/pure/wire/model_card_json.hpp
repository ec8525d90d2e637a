// A model card out of JSON that has been parsed already. Internal to .cpp files.
#pragma once

#include <nlohmann/json.hpp>

#include "wire/model_card.hpp"

namespace dynaplan::wire {

ModelCard model_card_of(const nlohmann::json& card);

}  // namespace dynaplan::wire
