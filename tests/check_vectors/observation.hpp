// Observations as the core and models vectors write them:
// [worker_id, dp_rank, wall_time, [7 scheduled], [6 queued]].
#pragma once

#include <optional>

#include <nlohmann/json.hpp>

#include "core/fpm.hpp"

namespace dynaplan::check_vectors {

// A number, or one of the texts that stand for the non-finite doubles. Throws std::runtime_error on anything
// else.
double number(const nlohmann::json&);
// Null is empty.
std::optional<double> optional_number(const nlohmann::json&);

Fpm observation(const nlohmann::json&);

}  // namespace dynaplan::check_vectors
