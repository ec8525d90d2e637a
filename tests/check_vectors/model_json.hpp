// The state of a regression model as the vectors write it.
#pragma once

#include <nlohmann/json.hpp>

#include "check_vectors/report.hpp"
#include "model/engine_model.hpp"

namespace dynaplan::check_vectors {

// Members of `expect` / `final_models`: counts, fit, averages, bounds, buckets, retained samples, rank,
// singular values.
nlohmann::json json_of(const model::EngineModel&);

// Compares every member of `expected` with the model; buckets as a set, coefficients also with an absolute
// floor.
void compare_model(Report&, std::string_view field, const nlohmann::json& expected,
                   const model::EngineModel&);

}  // namespace dynaplan::check_vectors
